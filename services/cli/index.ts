export { CommandError, failureText } from './commandError.js';
export { wholeNumber } from './optionValues.js';
export { watchOutput } from './outputErrors.js';
export { windjammerProgram } from './program.js';
