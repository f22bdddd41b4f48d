import { describe, expect, it } from 'vitest';
import { decoder } from './decoder.js';
import { digitsModel } from './digitsModels.js';
import { faultStudy } from './faultStudy.js';
import { faultlessOverheads } from './overheadStudy.js';
import { binomialInterval, softErrors } from './softErrors.js';

const TINY = decoder({ layers: 1, width: 64, vocabulary: 64, tokens: 2 });

describe('recovery from faults', () => {
  it('leaves all memory as without faults, from a restart or from saved memory', () => {
    for (const [scheme, kind] of [
      ['verdicts', 'bitFlip'],
      ['restore', 'failure'],
    ] as const) {
      const { identical, totals } = faultStudy(TINY, scheme, kind, 2, 1);
      expect([identical, totals.injected, totals.unrecovered]).toEqual([2, 2, 0]);
      expect(totals.reexecuted + totals.restored).toBe(2);
      if (scheme === 'restore') expect(totals.reexecuted).toBe(0);
    }
  });

  it('costs more where all is saved, most over the bus, and next to nothing where all is proved', () => {
    const { schemes } = faultlessOverheads(digitsModel('digits-mlp', 8), [
      { scheme: 'restore', saveTo: 'host' },
      { scheme: 'restore', saveTo: 'device' },
      { scheme: 'verdicts', saveTo: 'host' },
    ]);
    const [host, device, verdicts] = schemes.map(({ overhead }) => overhead);
    expect(host).toBeGreaterThan(device);
    expect(device).toBeGreaterThan(verdicts);
    expect(verdicts).toBeLessThan(0.04);
  });

  it('strikes launches alike, so that as many are repaired by running again as are idempotent', () => {
    const found = softErrors(TINY, 'verdicts', 5, 0.1, 2);
    expect(found.identical).toBe(found.passes);
    expect(found.isWithin).toBe(true);
    const byKernel = softErrors(TINY, 'klevel', 2, 0.1, 2);
    expect(byKernel.idempotentShare).toBeLessThan(0.1);
    expect(byKernel.isWithin).toBe(true);
  });
});

describe('binomial intervals', () => {
  it('hold the middle of the distribution', () => {
    expect(binomialInterval(0.5, 10)).toEqual([0.2, 0.8]);
    expect(binomialInterval(0, 10)).toEqual([0, 0]);
    expect(binomialInterval(1, 10)).toEqual([1, 1]);
    const [low, high] = binomialInterval(0.62, 1000);
    expect(low).toBeCloseTo(0.59, 2);
    expect(high).toBeCloseTo(0.65, 2);
  });
});
