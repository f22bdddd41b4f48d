export { CommandError, failureText } from './commandError.js';
export { wholeNumber } from './optionValues.js';
export { windjammerProgram } from './program.js';
