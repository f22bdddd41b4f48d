export { estimateRegistersPerThread } from './estimate.js';
