export { analyzeKernel } from './analysis/index.js';
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
