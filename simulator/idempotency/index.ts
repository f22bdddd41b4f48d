export { analyzeKernel, type AnalysisOptions } from './analysis/index.js';
export type { SolverFact, SolverFacts, SolverNotes, SolverQuery } from './solver/index.js';
export type * from './summary.js';
export * from './validator/index.js';
export {
  contentKey,
  VERDICT_COSTS,
  VERDICT_LATENCY_BOUNDS_NS,
  VerdictLibrary,
  type KernelAnalysis,
  type LibraryVerdict,
  type VerdictCosts,
  type VerdictLatency,
  type VerdictLibraryOptions,
  type VerdictMetrics,
} from './verdictLibrary.js';
