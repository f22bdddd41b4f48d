import type { SolverFact, SolverQuery } from '../../simulator/idempotency/index.js';
import type { Solver } from './solver.js';

/** A solver that answers so many questions, and knows nothing from then on. */
export class BudgetedSolver implements Solver {
  constructor(
    private readonly solver: Solver,
    private left: number,
  ) {}

  range(query: SolverQuery): Promise<SolverFact> {
    if (this.left === 0) return Promise.resolve('unknown');
    this.left -= 1;
    return this.solver.range(query);
  }
}
