import type { SolverFact, SolverQuery } from '../../simulator/idempotency/index.js';

/** Decides what analysis of kernels cannot. */
export interface Solver {
  /** The least and greatest value that a query asks for, or bounds of it; `unknown` when it takes too much. */
  range(query: SolverQuery): Promise<SolverFact>;
}
