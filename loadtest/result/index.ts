export { windowsCsv } from './windowsCsv.js';
export { answerLine } from './answerLine.js';
export { ProgressBar } from './progressBar.js';
export {
  accuracyOf,
  applicationCounts,
  countsOf,
  perSecond,
  productVersion,
  together,
  windowResult,
} from './summaries.js';
export {
  readResult,
  RESULT_FORMAT,
  resultJson,
  type Accuracy,
  type ApplicationResult,
  type LoadFacts,
  type ModelResult,
  type NodeResult,
  type QueryCounts,
  type RunResult,
  type ServerPart,
  type WindowResult,
} from './runResult.js';
