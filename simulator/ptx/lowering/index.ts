export { lowerModule } from './lowerModule.js';
