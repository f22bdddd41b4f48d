import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitQuantileLine, type QuantileLine } from './quantileLine.js';

const SEED = 20170327;

function pinballLoss(sizes: number[], times: number[], quantile: number, line: QuantileLine): number {
  return sizes.reduce((sum, size, at) => {
    const left = times[at] - line.interceptNs - line.slopeNs * size;
    return sum + (left > 0 ? quantile * left : (quantile - 1) * left);
  }, 0);
}

/**
 * Every corner of the linear programme: lines through two samples, level ones through one, ones through the origin and one,
 * with neither number below 0. One of the corners is as good as any line.
 */
function leastLoss(sizes: number[], times: number[], quantile: number): number {
  const corners: QuantileLine[] = [{ interceptNs: 0, slopeNs: 0 }];
  for (const [at, size] of sizes.entries()) {
    corners.push({ interceptNs: times[at], slopeNs: 0 }, { interceptNs: 0, slopeNs: times[at] / size });
    for (const [other, otherSize] of sizes.entries()) {
      if (otherSize === size) continue;
      const slopeNs = (times[other] - times[at]) / (otherSize - size);
      const interceptNs = times[at] - slopeNs * size;
      if (slopeNs >= 0 && interceptNs >= 0) corners.push({ interceptNs, slopeNs });
    }
  }
  return Math.min(...corners.map((line) => pinballLoss(sizes, times, quantile, line)));
}

describe('a quantile line', () => {
  it('is as good as the best of all corners', () => {
    const sample = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.double({ min: 0, max: 1e7, noNaN: true }));
    const quantile = fc.constantFrom(0.5, 0.75, 0.9, 0.99);
    fc.assert(
      fc.property(fc.array(sample, { minLength: 1, maxLength: 24 }), quantile, (samples, q) => {
        const sizes = samples.map(([size]) => size);
        const times = samples.map(([, time]) => time);
        const line = fitQuantileLine(sizes, times, q);
        expect(line.interceptNs).toBeGreaterThanOrEqual(0);
        expect(line.slopeNs).toBeGreaterThanOrEqual(0);
        const total = times.reduce((sum, time) => sum + time, 0);
        expect(pinballLoss(sizes, times, q, line)).toBeLessThanOrEqual(
          leastLoss(sizes, times, q) + 1e-9 * total,
        );
      }),
      { seed: SEED, numRuns: 400 },
    );
  });

  it('leaves no more samples above it than the quantile says', () => {
    const sample = fc.tuple(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 1e7 }));
    fc.assert(
      fc.property(fc.array(sample, { minLength: 50, maxLength: 200 }), (samples) => {
        const sizes = samples.map(([size]) => size);
        const { interceptNs, slopeNs } = fitQuantileLine(
          sizes,
          samples.map(([, time]) => time),
          0.99,
        );
        const above = samples.filter(([size, time]) => time > interceptNs + slopeNs * size + 1e-3);
        expect(above.length).toBeLessThanOrEqual(samples.length * 0.01 + 1e-9);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('finds a line that all samples lie on', () => {
    const sizes = [1, 2, 5, 9, 40];
    const line = fitQuantileLine(
      sizes,
      sizes.map((size) => 2000 + 50 * size),
      0.99,
    );
    expect(line.interceptNs).toBeCloseTo(2000, 3);
    expect(line.slopeNs).toBeCloseTo(50, 5);
  });

  it('goes through the origin when all batches had one size', () => {
    const line = fitQuantileLine([8, 8, 8], [100, 300, 200], 0.99);
    expect(line.slopeNs).toBeCloseTo(300 / 8, 6);
    expect(line.interceptNs).toBeCloseTo(0, 6);
  });

  it('is level for times of 0, and needs a sample', () => {
    expect(fitQuantileLine([1, 2], [0, 0], 0.5)).toEqual({ interceptNs: 0, slopeNs: 0 });
    expect(() => fitQuantileLine([], [], 0.5)).toThrow(RangeError);
  });
});
