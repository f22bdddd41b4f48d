import {
  analyzeKernel,
  type KernelSummary,
  type SolverFact,
  type SolverQuery,
} from '../../simulator/idempotency/index.js';
import type { IrModule } from '../../simulator/ptx/index.js';
import type { Solver } from './solver.js';

/**
 * Analyses a kernel with a solver for what the analysis leaves open: once to learn its questions, and again with the answers, as
 * long as there are new ones.
 * @param facts answers that are known already; new ones are added
 * @throws RangeError when the module has no entry of that name
 */
export async function proveOffline(
  module: IrModule,
  entry: string,
  solver: Solver,
  facts = new Map<string, SolverFact>(),
): Promise<KernelSummary> {
  for (;;) {
    const open = new Map<string, SolverQuery>();
    const summary = analyzeKernel(module, entry, {
      solver: { facts, ask: (query) => open.set(query.key, query) },
    });
    if (open.size === 0) return summary;
    for (const [key, query] of open) facts.set(key, await solver.range(query));
  }
}
