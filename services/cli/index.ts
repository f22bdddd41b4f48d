export { commandFile } from './commandFile.js';
export { CommandError } from './commandError.js';
export {
  connectionOf,
  withSecurityOptions,
  withManagementOptions,
  clientOf,
  rawCalls,
  type ClientOptions,
  type SecurityOptions,
} from './clientOptions.js';
export { eachOne, wholeNumber } from './optionValues.js';
export { checkApart, OutputFile } from './outputFile.js';
export { interruption, type Interruption } from './interruption.js';
export { failureText } from './commandError.js';
export { cardListOrCount, MOST_GPUS, MOST_NODES } from './gpusOption.js';
