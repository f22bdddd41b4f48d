import { expect, it } from 'vitest';
import { KeyedDraw } from './index.js';

it('gives the same draws for the same seed and key, whatever came before', () => {
  const one = new KeyedDraw(42);
  const other = new KeyedDraw(42);
  const take = (draw: KeyedDraw, key: string) => {
    const next = draw.of(key);
    return [next(), next(), next()];
  };
  const first = take(one, 'query 1');
  take(other, 'query 9');
  expect(take(other, 'query 1')).toEqual(first);
  expect(take(new KeyedDraw(43), 'query 1')).not.toEqual(first);
  expect(new Set(first).size).toBe(3);
});

it('spreads evenly over neighbouring keys', () => {
  const draw = new KeyedDraw(1);
  const bins = new Array<number>(64).fill(0);
  const count = 64_000;
  for (let at = 0; at < count; at++) bins[Math.floor(draw.of(`${at}`)() * 64)] += 1;
  const chiSquare = bins.reduce((sum, seen) => sum + (seen - count / 64) ** 2 / (count / 64), 0);
  // 63 degrees of freedom: 103 is passed once in a thousand seeds.
  expect(chiSquare).toBeLessThan(103);
});

it('takes seeds of more than 32 bits, and whole ones only', () => {
  expect(new KeyedDraw(2 ** 40 + 1).of('x')()).not.toBe(new KeyedDraw(1).of('x')());
  expect(() => new KeyedDraw(0.5)).toThrow(/seed must be a safe integer, not 0.5/);
});
