export { isUnwritten } from './bufferContents.js';
export { elementBytes } from './elementTypes.js';
export { placeOnExecutor, type ExecutorPlacement } from './executorPlacement.js';
export { LaunchSpecError, type LaunchSpecErrorCode } from './launchSpecError.js';
export { NodeSession } from './nodeSession.js';
export { isAsReported, sampleIndices, type BufferSummary } from './outputSummary.js';
export {
  placeSpec,
  type PlacedBuffer,
  type PlacedOutput,
  type PlacedSpec,
  type SpecHost,
  type SpecSymbol,
} from './placement.js';
export { resultText } from './resultText.js';
export {
  runLaunchSpec,
  runLaunchSpecFile,
  type LaunchSpecOptions,
  type LaunchSpecResult,
} from './runLaunchSpec.js';
export {
  runWorkSpec,
  type EntryReport,
  type WorkBufferSummary,
  type WorkOptions,
  type WorkResult,
} from './runWorkSpec.js';
export { isWorkSpec } from './workSchema.js';
export { checkLaunchSpec, type BufferSpec, type LaunchSpec } from './schema.js';
export { deviceOf, entryOf, readPtx, readSpec } from './specFiles.js';
