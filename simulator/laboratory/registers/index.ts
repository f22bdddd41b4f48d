export { csvRows, estimateErrors, measuredKernels } from './measuredRegisters.js';
