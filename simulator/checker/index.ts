export {
  checkLaunch,
  DEFAULT_FUEL_PER_BLOCK,
  DEFAULT_LIMIT,
  type CheckedMemory,
  type CheckOptions,
  type CheckProgress,
} from './checkLaunch.js';
export { checkSpec, checkSpecFile } from './checkSpec.js';
export {
  CHECKERS,
  type CheckerName,
  type CheckReport,
  type CodePlace,
  type Finding,
  type FindingKind,
  type MemoryAccess,
  type Occurrence,
  type Severity,
  type ThreadPlace,
} from './findings.js';
export { reportText } from './reportText.js';
