export { commandFile } from './commandFile.js';
export { CommandError } from './commandError.js';
export { wholeNumber } from './optionValues.js';
export { cardListOrCount, MOST_GPUS, MOST_NODES } from './gpusOption.js';
