import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { UnknownKernel } from '../../../simulator/cluster/index.js';
import type { KernelSummary, SolverFact, SolverQuery } from '../../../simulator/idempotency/index.js';
import { parseModule, lowerModule } from '../../../simulator/ptx/index.js';
import { proveAlone } from '../../proving/index.js';
import { KernelProver, type ClosingSolver } from './kernelProver.js';

const file = 'permutations.ptx';
const ptx = readFileSync(`containers/proving/tests/${file}`, 'utf8');
const request = (kernel: string): UnknownKernel => ({ key: kernel, kernel, ptx, file });

/** Says of every value that it lies between 0 and 3. */
class CredulousSolver implements ClosingSolver {
  asked = 0;
  closed = 0;

  range(_query: SolverQuery): Promise<SolverFact> {
    this.asked += 1;
    return Promise.resolve({ lo: 0, hi: 3 });
  }

  close(): void {
    this.closed += 1;
  }
}

const proofOf = (prover: KernelProver, kernel: string): Promise<KernelSummary | undefined> =>
  new Promise((resolve) => prover.prove(request(kernel), resolve));

describe('a prover of what the analysis of kernels leaves open', () => {
  it('asks about one kernel after the other, and puts the solver away at the end', async () => {
    const solver = new CredulousSolver();
    const prover = new KernelProver(solver, () => 0);
    const proofs = ['morton', 'swizzle'].map((kernel) => proofOf(prover, kernel));
    expect(solver.asked).toBe(0);
    const [morton, swizzle] = await Promise.all(proofs);
    const alone = proveAlone(lowerModule(parseModule(ptx, file)), 'morton');
    expect(alone.isOpen).toBe(true);
    expect(morton?.kernel).toBe('morton');
    expect(morton).not.toEqual(alone.summary);
    expect(swizzle?.kernel).toBe('swizzle');
    expect(solver.asked).toBeGreaterThan(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(solver.closed).toBe(1);
    await proofOf(prover, 'morton');
    await new Promise((resolve) => setImmediate(resolve));
    expect(solver.closed).toBe(2);
  });

  it('knows nothing of a kernel at which the solver breaks, and goes on', async () => {
    const solver = new CredulousSolver();
    const broken: ClosingSolver = {
      range: () => Promise.reject(new Error('out of memory')),
      close: () => solver.close(),
    };
    const prover = new KernelProver(broken, () => 0);
    expect(await proofOf(prover, 'morton')).toBeUndefined();
    expect(await proofOf(prover, 'swizzle')).toBeUndefined();
  });
});
