import { describe, expect, it } from 'vitest';
import { ReferenceInterpreter } from '../executor/index.js';
import { firstDifference, kernelFixtures, referenceResult, runFixture } from './index.js';

const variants = ['fast'] as const;

/** What does not run yet, with the reason. */
const waiting: Readonly<Record<string, string>> = {
  cooperativeHeat: 'grid.sync',
  lockedBuckets: 'spinning lanes of one warp in the interpreter',
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
