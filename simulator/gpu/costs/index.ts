export {
  COSTS_FORMAT,
  COSTS_VERSION,
  VERDICT_CAUSES,
  checkCosts,
  parseCosts,
  writtenWork,
  type CostDocument,
  type CostVariant,
  type KernelCosts,
} from './costDocument.js';
export { plainCosts, type PlainKernel } from './plainCosts.js';
export { CostError, type CostErrorCode } from './costError.js';
export { CostLibrary, type CostKey } from './costLibrary.js';
export { CostRecorder } from './costRecorder.js';
export { runOf, type BlockCounts, type FixedCost, type LaunchCost, type ProfiledCost } from './launchCost.js';
export { scalarsOf } from './scalars.js';
