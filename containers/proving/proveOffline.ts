import {
  analyzeKernel,
  type KernelSummary,
  type SolverFact,
  type SolverNotes,
  type SolverQuery,
} from '../../simulator/idempotency/index.js';
import type { IrModule } from '../../simulator/ptx/index.js';
import type { Solver } from './solver.js';

/**
 * Does something synchronous that may have questions for a solver: once to learn them, and again with the answers, as long as there
 * are new ones.
 * @param facts answers that are known already; new ones are added
 * @returns what it comes to when it has no question left
 */
export async function withAnswers<T>(
  work: (notes: SolverNotes) => T,
  solver: Solver,
  facts = new Map<string, SolverFact>(),
): Promise<T> {
  for (;;) {
    const open = new Map<string, SolverQuery>();
    const result = work({ facts, ask: (query) => open.set(query.key, query) });
    if (open.size === 0) return result;
    for (const [key, query] of open) facts.set(key, await solver.range(query));
  }
}

/**
 * Analyses a kernel with a solver for what the analysis leaves open.
 * @throws RangeError when the module has no entry of that name
 */
export function proveOffline(
  module: IrModule,
  entry: string,
  solver: Solver,
  facts?: Map<string, SolverFact>,
): Promise<KernelSummary> {
  return withAnswers((notes) => analyzeKernel(module, entry, { solver: notes }), solver, facts);
}

/** What the analysis finds without a solver. */
export interface OwnProof {
  readonly summary: KernelSummary;
  /** There are questions that a solver might answer. */
  readonly isOpen: boolean;
}

/**
 * Analyses a kernel without a solver.
 * @throws RangeError when the module has no entry of that name
 */
export function proveAlone(module: IrModule, entry: string): OwnProof {
  let isOpen = false;
  const notes: SolverNotes = { facts: new Map(), ask: () => (isOpen = true) };
  return { summary: analyzeKernel(module, entry, { solver: notes }), isOpen };
}
