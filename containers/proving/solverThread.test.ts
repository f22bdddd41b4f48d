import { describe, expect, it } from 'vitest';
import type { SolverQuery } from '../../simulator/idempotency/index.js';
import { BudgetedSolver, installedSolver, SolverLost, SolverThread } from './index.js';

/** x is between 3 and 9. */
const QUERY: SolverQuery = {
  key: 'x',
  text: '(declare-const x (_ BitVec 16))(assert (bvsge x #x0003))(assert (bvsle x #x0009))',
  bits: 16,
  least: -32768n,
  most: 32767n,
  useful: 65536n,
};

describe.skipIf(installedSolver() === undefined)('z3 in a thread', () => {
  it('answers as it does here, and again after it was closed', async () => {
    const solver = new SolverThread();
    expect(await solver.range(QUERY)).toEqual({ lo: 3, hi: 9 });
    solver.close();
    expect(await solver.range(QUERY)).toEqual({ lo: 3, hi: 9 });
    solver.close();
  });

  it('is given up where it answers nothing for too long', async () => {
    await expect(new SolverThread(1).range(QUERY)).rejects.toThrow(SolverLost);
  });
});

describe('a budget of questions', () => {
  it('is asked so many, and knows nothing from then on', async () => {
    let asked = 0;
    const range = () => Promise.resolve(((asked += 1), 'never' as const));
    const budgeted = new BudgetedSolver({ range }, 2);
    for (const expected of ['never', 'never', 'unknown', 'unknown']) {
      expect(await budgeted.range(QUERY)).toBe(expected);
    }
    expect(asked).toBe(2);
  });
});

describe('an installed solver', () => {
  it('is known by name and version, and missing otherwise', () => {
    expect(installedSolver('no-such-solver')).toBeUndefined();
    expect(installedSolver('typescript')).toMatch(/^typescript \d+\.\d+\.\d+$/);
  });
});
