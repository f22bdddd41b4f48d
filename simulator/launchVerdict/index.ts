export { explanationText } from './explanation.js';
export {
  judgeSpec,
  judgeSpecFile,
  specVerdict,
  type JudgedAccess,
  type JudgedLaunch,
  type JudgeOptions,
  type SpecVerdict,
} from './judgeSpec.js';
