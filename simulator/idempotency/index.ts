export { analyzeKernel } from './analysis/index.js';
export * from './corpus/index.js';
export * from './mutation/index.js';
export * from './oracles/index.js';
export type * from './summary.js';
export * from './validator/index.js';
export {
  contentKey,
  VERDICT_COSTS,
  VerdictLibrary,
  type LibraryVerdict,
  type VerdictCosts,
  type VerdictLibraryOptions,
  type VerdictMetrics,
} from './verdictLibrary.js';
