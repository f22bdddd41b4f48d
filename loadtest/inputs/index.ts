export { DigitSamples } from './digitSamples.js';
export { FileInputs } from './fileInputs.js';
export type { InputPool } from './inputPool.js';
export { MadeInputs } from './madeInputs.js';
export { poolFor } from './poolFor.js';
export { textBytes } from './textBytes.js';
export { QueryInputs, type AskedInput } from './queryInputs.js';
