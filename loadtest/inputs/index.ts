export { DigitSamples } from './digitSamples.js';
export { FileInputs } from './fileInputs.js';
export type { InputPool } from './inputPool.js';
export { MadeInputs } from './madeInputs.js';
