import type { SolverFact } from '../../../simulator/idempotency/index.js';
import { bodyModule, type CorpusBody } from '../../../simulator/laboratory/verdicts/index.js';
import { proveOffline, Z3Solver } from '../../../containers/proving/index.js';

/** What z3 answers to the questions of the analysis about kernels; nothing when it is not asked for. */
export async function solverFacts(
  solver: string | undefined,
  bodies: readonly { readonly body: CorpusBody }[],
): Promise<ReadonlyMap<string, SolverFact>> {
  const facts = new Map<string, SolverFact>();
  if (solver === undefined) return facts;
  if (solver !== 'z3') throw new Error(`--solver ${solver}: give z3`);
  const z3 = new Z3Solver();
  for (const { body } of bodies) await proveOffline(bodyModule(body), body.manifest.entry, z3, facts);
  await z3.close();
  return facts;
}
