import { expect, it } from 'vitest';
import { HistogramTally } from './histogramTally.js';

it('has by fewer bounds what it has by its own: counts, the sum, and the last exemplar of each bucket', () => {
  const tally = new HistogramTally([1, 2, 4, 8]);
  for (const value of [1, 1.5, 3, 9]) tally.observe(value);
  const exemplar = (value: number, atSeconds: number) => ({ traceId: `t${value}`, value, atSeconds });
  for (const one of [exemplar(1.5, 20), exemplar(1, 10), exemplar(9, 5)]) tally.keep(one);
  const coarse = tally.coarse([2, 8]);
  expect([...coarse.counts]).toEqual([2, 1, 1]);
  expect(coarse.sum).toBe(14.5);
  expect([0, 1, 2].map((at) => coarse.exemplars?.[at]?.traceId)).toEqual(['t1.5', undefined, 't9']);
});
