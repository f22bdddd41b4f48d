export { lowerMatrices } from './lowerMatrices.js';
