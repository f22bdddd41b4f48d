export { ProgressBar } from './progressBar.js';
export {
  RESULT_FORMAT,
  resultJson,
  type Accuracy,
  type ApplicationResult,
  type ModelResult,
  type NodeResult,
  type QueryCounts,
  type RunResult,
  type WindowResult,
} from './runResult.js';
