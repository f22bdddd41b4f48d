export { codeShape, type CodeShape } from './codeShape.js';
export { estimateRegistersPerThread, type RegisterTarget } from './estimate.js';
