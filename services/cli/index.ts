export { commandFile } from './commandFile.js';
export { CommandError } from './commandError.js';
export { wholeNumber } from './optionValues.js';
