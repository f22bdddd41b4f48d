import type { KernelSummary } from '../../../simulator/idempotency/index.js';
import { lowerModule, parseModule } from '../../../simulator/ptx/index.js';
import { BudgetedSolver, proveOffline, type Solver } from '../../proving/index.js';
import type { AnalysisRequest } from './analystMessages.js';

/** Questions that a solver is asked about one kernel. Most kernels have fewer than ten. */
const MOST_QUESTIONS = 64;

/** A solver that can be put away until it is needed again. */
export interface ClosingSolver extends Solver {
  close(): void;
}

/** A summary by analysis and solver; undefined: the solver broke, and what was known before stands. */
export type OnProved = (summary: KernelSummary | undefined, hostNs: number) => void;

/**
 * Asks a solver what the analysis of kernels left open, one kernel after the other, between whatever else its thread does. The solver is
 * closed when there is nothing to ask.
 */
export class KernelProver {
  private readonly queue: { readonly request: AnalysisRequest; readonly onProved: OnProved }[] = [];

  /** @param nowNs of the host */
  constructor(
    private readonly solver: ClosingSolver,
    private readonly nowNs: () => number,
  ) {}

  prove(request: AnalysisRequest, onProved: OnProved): void {
    this.queue.push({ request, onProved });
    if (this.queue.length === 1) void this.work();
  }

  private async work(): Promise<void> {
    for (let [first] = this.queue; first !== undefined; [first] = this.queue) {
      const { request, onProved } = first;
      // The node that waits for its first analysis goes before.
      await new Promise((resolve) => setImmediate(resolve));
      const beginNs = this.nowNs();
      let summary: KernelSummary | undefined;
      try {
        const module = lowerModule(parseModule(request.ptx, request.file));
        const budgeted = new BudgetedSolver(this.solver, MOST_QUESTIONS);
        summary = await proveOffline(module, request.kernel, budgeted);
      } catch {
        // Out of memory, most likely: the kernel is as it was without a solver.
      }
      onProved(summary, this.nowNs() - beginNs);
      this.queue.shift();
    }
    this.solver.close();
  }
}
