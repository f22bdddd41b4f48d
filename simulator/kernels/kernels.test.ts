import { describe, expect, it } from 'vitest';
import { ReferenceInterpreter } from '../executor/index.js';
import { firstDifference, kernelFixtures, referenceResult, runFixture } from './index.js';

const variants = ['fast', 'observed', 'resumable'] as const;

/** What does not run yet, with the reason. */
const waiting: Readonly<Record<string, string>> = {
  cooperativeHeat: 'grid.sync',
  bfloatNorm: 'arithmetic of halves',
  halfAxpy: 'arithmetic of halves',
  halfReduction: 'arithmetic of halves',
  bigIntegers: 'carry chains',
  functionTable: 'brx.idx in compiled code',
  virtualShapes: 'addresses of functions in compiled code',
  printReport: 'assertfail in compiled code',
};

describe.each(kernelFixtures.map((fixture) => [fixture.name, fixture] as const))('%s', (name, fixture) => {
  const expected = referenceResult(fixture);

  it.skipIf(name in waiting).each(variants)('computes what plain TypeScript does (%s)', (variant) => {
    const { buffers, printed } = runFixture(fixture, variant);
    expect(firstDifference(fixture, buffers, expected)).toBeUndefined();
    expect(printed).toBe(fixture.printed ?? '');
  });

  it.skipIf(name in waiting)('computes what plain TypeScript does (reference interpreter)', () => {
    const { buffers, printed } = runFixture(fixture, 'fast', new ReferenceInterpreter());
    expect(firstDifference(fixture, buffers, expected)).toBeUndefined();
    expect(printed).toBe(fixture.printed ?? '');
  });
});
