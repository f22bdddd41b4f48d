import { describe, expect, it } from 'vitest';
import { ReferenceInterpreter } from '../executor/index.js';
import { firstDifference, kernelFixtures, referenceResult, runFixture } from './index.js';

const variants = ['fast', 'observed', 'resumable'] as const;

describe.each(kernelFixtures.map((fixture) => [fixture.name, fixture] as const))('%s', (_, fixture) => {
  const expected = referenceResult(fixture);

  it.each(variants)('computes what plain TypeScript does (%s)', (variant) => {
    const { buffers, printed } = runFixture(fixture, variant);
    expect(firstDifference(fixture, buffers, expected)).toBeUndefined();
    expect(printed).toBe(fixture.printed ?? '');
  });

  it('computes what plain TypeScript does (reference interpreter)', () => {
    const { buffers, printed } = runFixture(fixture, 'fast', new ReferenceInterpreter());
    expect(firstDifference(fixture, buffers, expected)).toBeUndefined();
    expect(printed).toBe(fixture.printed ?? '');
  });
});
