import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import {
  analyzeKernel,
  compileValidator,
  type SolverFact,
  type ValidatedLaunch,
} from '../../simulator/idempotency/index.js';
import { parseModule } from '../../simulator/ptx/index.js';
import { proveOffline, SolverMissing, Z3Solver } from './index.js';
import { loadZ3 } from './z3Api.js';

const PATH = 'containers/proving/tests/permutations.ptx';
const module = parseModule(readFileSync(PATH, 'utf8'), 'permutations.ptx');
const OUT = 2 ** 45;

interface Permutation {
  readonly name: string;
  /** Elements of `out`, directly behind which `in` lies. */
  readonly count: number;
  readonly blocks: number;
  readonly block: readonly [number, number, number];
}

const row = (name: string, count: number): Permutation => ({
  name,
  count,
  blocks: Math.ceil(count / 128),
  block: [128, 1, 1],
});

function launchOf({ count, blocks, block }: Permutation): ValidatedLaunch {
  const params = new Uint8Array(20);
  const view = new DataView(params.buffer);
  view.setBigUint64(0, BigInt(OUT), true);
  view.setBigUint64(8, BigInt(OUT + 4 * count), true);
  view.setInt32(16, count, true);
  return { params, shape: { grid: [blocks, 1, 1], block } };
}

const isInstalled = await import('z3-solver').then(
  () => true,
  () => false,
);
const z3 = new Z3Solver();
afterAll(() => z3.close());

describe.skipIf(!isInstalled)('a solver beside the analysis', () => {
  const widened = [
    { ...row('morton', 1024), blocks: 1, block: [32, 32, 1] as const },
    row('swizzle', 384),
    row('interleave', 320),
    row('swizzleN', 1000),
  ];

  it.each(widened)('bounds $name exactly, which intervals do not', async (permutation) => {
    const launch = launchOf(permutation);
    expect(compileValidator(analyzeKernel(module, permutation.name)).judge(launch)).toBe(false);
    const validator = compileValidator(await proveOffline(module, permutation.name, z3));
    expect(validator.judge(launch)).toBe(true);
    const { count, lo, hi, isWrite } = validator.intervals(launch);
    for (let access = 0; access < count; access++) {
      if (isWrite[access] === 0) continue;
      expect([lo[access], hi[access]]).toEqual([OUT, OUT + 4 * permutation.count - 1]);
    }
  });

  it('refuses what does overlap', async () => {
    const permutation = { ...row('swizzle', 384) };
    const summary = await proveOffline(module, 'swizzle', z3);
    const launch = launchOf(permutation);
    // `in` begins within the last element of `out`.
    new DataView(launch.params.buffer).setBigUint64(8, BigInt(OUT + 4 * permutation.count - 1), true);
    expect(compileValidator(summary).judge(launch)).toBe(false);
  });

  it('answers the same each time', async () => {
    const [first, second] = [new Map<string, SolverFact>(), new Map<string, SolverFact>()];
    const a = await proveOffline(module, 'swizzleN', z3, first);
    const b = await proveOffline(module, 'swizzleN', z3, second);
    expect(first.size).toBeGreaterThan(0);
    expect([...second]).toEqual([...first]);
    expect(b).toEqual(a);
  });

  it('asks nothing that is known', async () => {
    const facts = new Map<string, SolverFact>();
    await proveOffline(module, 'interleave', z3, facts);
    const range = (): Promise<SolverFact> => Promise.reject(new Error('asked'));
    await expect(proveOffline(module, 'interleave', { range }, facts)).resolves.toBeDefined();
  });

  it.each([1, 10_000])('says nothing wrong where it gives up (%i)', async (limit) => {
    const hasty = new Z3Solver(limit);
    for (const permutation of widened) {
      const launch = launchOf(permutation);
      const validator = compileValidator(await proveOffline(module, permutation.name, hasty));
      const { count, lo, hi, isWrite } = validator.intervals(launch);
      const begin = (access: number): number => (isWrite[access] === 1 ? OUT : OUT + 4 * permutation.count);
      for (let access = 0; access < count; access++) {
        expect(lo[access]).toBeLessThanOrEqual(begin(access));
        expect(hi[access]).toBeGreaterThanOrEqual(begin(access) + 4 * permutation.count - 1);
      }
    }
    await hasty.close();
  });
});

describe('without a solver', () => {
  it('says what to install', async () => {
    await expect(loadZ3('no-such-solver')).rejects.toThrow(SolverMissing);
    await expect(loadZ3('no-such-solver')).rejects.toThrow(/npm install --include=optional/);
  });
});
