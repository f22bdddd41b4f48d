export { deriveMetadata } from './deriveMetadata.js';
export { deriveMove } from './deriveMoves.js';
export { fitForm } from './fitForm.js';
export type { Difference, Fit, TileCase } from './fitForm.js';
export { reportOf } from './report.js';
