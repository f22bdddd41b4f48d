import { expect, it } from 'vitest';
import { fittingAxis, linearAxis, logarithmicAxis, roundLogarithmicAxis, tickText } from './index.js';

it('puts ticks at round numbers that cover the data', () => {
  expect(linearAxis(0, 18.7, 0, 100, 5).ticks).toEqual([0, 5, 10, 15, 20]);
  expect(linearAxis(0, 0.31, 0, 100, 4).ticks).toEqual([0, 0.1, 0.2, 0.3, 0.4]);
  expect(linearAxis(0, 0, 0, 100, 4).ticks.length).toBeGreaterThan(1);
  const axis = linearAxis(0, 10, 200, 100, 5);
  expect([axis.place(0), axis.place(5), axis.place(10)]).toEqual([200, 150, 100]);
  expect([tickText(9000), tickText(12000), tickText(1234567), tickText(0.5)]).toEqual([
    '9000',
    '12 000',
    '1 234 567',
    '0.5',
  ]);
});

it('puts a tick at each power of ten, and what lies below at the end', () => {
  const axis = logarithmicAxis(0.023, 20, 300, 0);
  expect(axis.ticks).toEqual([0.01, 0.1, 1, 10, 100]);
  expect(axis.place(0.1)).toBeCloseTo(225, 9);
  expect(axis.place(0)).toBe(300);
});

it('ends where data does, or with a tick of one, two or five on either side', () => {
  const fitting = fittingAxis(18.7, 0, 187, 4);
  expect([fitting.high, fitting.ticks, fitting.place(18.7)]).toEqual([18.7, [0, 5, 10, 15], 187]);
  expect(fittingAxis(0, 0, 100, 4).high).toBe(1);
  expect(roundLogarithmicAxis(3, 40, 0, 100).ticks).toEqual([2, 5, 10, 20, 50]);
  expect(roundLogarithmicAxis(3, 40_000, 0, 100).ticks).toEqual([1, 10, 100, 1000, 10_000, 100_000]);
});
