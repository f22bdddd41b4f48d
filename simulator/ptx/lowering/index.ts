export { lowerCalls, type CallLoweringOptions } from './calls/index.js';
export { lowerModule } from './lowerModule.js';
