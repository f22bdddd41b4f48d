export { LaunchSpecError, type LaunchSpecErrorCode } from './launchSpecError.js';
export { nineDigits, sampleIndices, type BufferSummary } from './outputSummary.js';
export {
  runLaunchSpec,
  runLaunchSpecFile,
  type LaunchSpecOptions,
  type LaunchSpecResult,
} from './runLaunchSpec.js';
export { checkLaunchSpec, type LaunchSpec } from './schema.js';
