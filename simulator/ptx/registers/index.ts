export { estimateRegistersPerThread, type RegisterTarget } from './estimate.js';
