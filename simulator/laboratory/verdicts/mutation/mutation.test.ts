import { describe, expect, it } from 'vitest';
import { analyzeKernel } from '../../../idempotency/index.js';
import { labelledBodies, type InstanceVerdict } from '../corpus/index.js';
import type { PlacedInstance } from '../oracles/index.js';
import type { KernelSummary } from '../../../idempotency/index.js';
import { compileValidator } from '../../../idempotency/index.js';
import { hunt, MUTATIONS, type Mutation } from './index.js';

/** Verdicts and intervals straight from the validator. */
function validator(summary: KernelSummary): (placed: PlacedInstance) => InstanceVerdict {
  const compiled = compileValidator(summary);
  return ({ launch: { params, shape, module } }) => {
    const launch = { params, shape, symbols: module.symbols };
    const idempotent = compiled.judge(launch);
    const { isComplete, count, lo, hi, isWrite, line } = compiled.intervals(launch);
    const found = Array.from({ length: count }, (_, index) => ({
      lo: lo[index] ?? 0,
      hi: hi[index] ?? -1,
      key: `${isWrite[index] === 1 ? 'W' : 'R'}${line[index]}`,
    }));
    return {
      idempotent,
      intervals: {
        predictedIntervals: (at, rw) =>
          isComplete ? found.filter(({ key }) => key === `${rw}${at}`) : 'anything',
      },
    };
  };
}

const entries = ['addVectorized', 'flip', 'gemmNaive', 'volume'];
const bodies = entries.flatMap(
  (entry) => labelledBodies().find(({ body }) => body.manifest.entry === entry) ?? [],
);
const named = (...names: readonly string[]): Mutation[] =>
  MUTATIONS.filter(({ name }) => names.includes(name));

describe('the hunt for mistakes', () => {
  it('catches none where there is none', () => {
    const none: Mutation = { name: 'none', what: 'a copy', apply: (summary) => ({ ...summary }) };
    const [found] = hunt([none], { analyze: analyzeKernel, validator }, bodies, { launches: 8, kills: 2 });
    expect(found).toEqual({ mutation: 'none', bodies: bodies.length, launches: bodies.length * 8 });
  });

  it('catches mistakes of width, of guards, of dimensions and of loops', () => {
    const mutations = named(
      'dropLastBytes',
      'narrowOneLess',
      'ignoreZ',
      'lastIterationForgotten',
      'noReadOnlyLoads',
    );
    expect(mutations).toHaveLength(5);
    const found = hunt(mutations, { analyze: analyzeKernel, validator }, bodies, { launches: 20, kills: 2 });
    for (const { mutation, caught } of found) expect(caught, mutation).toBeDefined();
  });

  it('has a name of its own for each of at least twenty mistakes', () => {
    expect(new Set(MUTATIONS.map(({ name }) => name)).size).toBe(MUTATIONS.length);
    expect(MUTATIONS.length).toBeGreaterThanOrEqual(20);
  });
});
