import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Rounding } from './index.js';
import {
  add32,
  add64,
  binary16,
  binary32,
  binary64,
  divide32,
  exactOf,
  flush32,
  fromHalf,
  fusedMultiplyAdd32,
  fusedMultiplyAdd64,
  maximum,
  minimum,
  multiply32,
  multiply64,
  roundToBits,
  roundToNumber,
  saturate,
  squareRoot32,
  toHalf,
} from './index.js';
import { addExact, divideSticky, multiplyExact, rootSticky } from './floatFormat.js';

const runs = { numRuns: 3000, seed: 20_260_101 };
const roundings: Rounding[] = ['nearestEven', 'towardZero', 'towardNegative', 'towardPositive'];

const view = new DataView(new ArrayBuffer(8));
function single(bits: number): number {
  view.setUint32(0, bits);
  return view.getFloat32(0);
}
function double(bits: bigint): number {
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}

/** f32 of all magnitudes, and ones whose low bits are mostly zero, so that sums and products hit midpoints. */
const singles = fc
  .oneof(
    fc.integer({ min: 0, max: 0xffffffff }),
    fc
      .tuple(fc.integer({ min: 0, max: 511 }), fc.integer({ min: 0, max: 63 }))
      .map(([e, m]) => ((e << 23) | (m << 17)) >>> 0),
    fc
      .tuple(fc.integer({ min: 100, max: 150 }), fc.integer({ min: 0, max: 0x7fffff }))
      .map(([e, m]) => ((e << 23) | m) >>> 0),
    fc
      .tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 0x7fffff }))
      .map(([e, m]) => ((e << 23) | m) >>> 0),
  )
  .map(single)
  .filter((value) => Number.isFinite(value));

const doubles = fc
  .oneof(
    fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
    fc
      .tuple(fc.bigInt({ min: 1000n, max: 1050n }), fc.bigInt({ min: 0n, max: (1n << 52n) - 1n }))
      .map(([e, m]) => (e << 52n) | m),
    fc
      .tuple(fc.bigInt({ min: 0n, max: 2047n }), fc.bigInt({ min: 0n, max: 255n }))
      .map(([e, m]) => (e << 52n) | (m << 44n)),
  )
  .map(double)
  .filter((value) => Number.isFinite(value));

const same = (a: number, b: number): boolean => Object.is(a, b);

function exactSum(a: number, b: number, rounding: Rounding) {
  const bothNegative = Object.is(a, -0) && Object.is(b, -0);
  return addExact(
    exactOf(a),
    exactOf(b),
    bothNegative || (rounding === 'towardNegative' && !(same(a, 0) && same(b, 0))),
  );
}

describe('rounding of exact values', () => {
  it('gives a double back unchanged', () => {
    fc.assert(
      fc.property(doubles, (value) => same(roundToNumber(exactOf(value), binary64, 'nearestEven'), value)),
      runs,
    );
  });

  it('rounds to f32 as Math.fround does', () => {
    fc.assert(
      fc.property(doubles, (value) =>
        same(roundToNumber(exactOf(value), binary32, 'nearestEven'), Math.fround(value)),
      ),
      runs,
    );
  });

  it('brackets the value between the directed roundings, next to each other', () => {
    fc.assert(
      fc.property(doubles, (value) => {
        const down = roundToNumber(exactOf(value), binary32, 'towardNegative');
        const up = roundToNumber(exactOf(value), binary32, 'towardPositive');
        const zero = roundToNumber(exactOf(value), binary32, 'towardZero');
        expect(down).toBeLessThanOrEqual(value);
        expect(up).toBeGreaterThanOrEqual(value);
        expect(same(zero, value > 0 || same(value, 0) ? down : up)).toBe(true);
        expect([down, up].some((each) => same(each, Math.fround(value)))).toBe(true);
      }),
      runs,
    );
  });
});

describe('f32 arithmetic', () => {
  it.each(roundings)('adds, multiplies and divides exactly, %s', (rounding) => {
    fc.assert(
      fc.property(singles, singles, (a, b) => {
        expect(add32(a, b, rounding)).toBe(roundToNumber(exactSum(a, b, rounding), binary32, rounding));
        expect(multiply32(a, b, rounding)).toBe(
          roundToNumber(multiplyExact(exactOf(a), exactOf(b)), binary32, rounding),
        );
        if (b !== 0) {
          expect(divide32(a, b, rounding)).toBe(
            roundToNumber(divideSticky(exactOf(a), exactOf(b), 24), binary32, rounding),
          );
        }
        if (a > 0)
          expect(squareRoot32(a, rounding)).toBe(
            roundToNumber(rootSticky(exactOf(a), 24), binary32, rounding),
          );
      }),
      { ...runs, numRuns: 1500 },
    );
  });

  it('rounds a fused multiply-add once', () => {
    fc.assert(
      fc.property(singles, singles, singles, (a, b, c) => {
        const product = multiplyExact(exactOf(a), exactOf(b));
        const exact = addExact(product, exactOf(c), false);
        if (exact.significand === 0n) return;
        expect(fusedMultiplyAdd32(a, b, c)).toBe(roundToNumber(exact, binary32, 'nearestEven'));
      }),
      { ...runs, numRuns: 20_000 },
    );
  });

  it('does not round a fused multiply-add twice where a double sum is a midpoint', () => {
    // 1 + 2^-24 lies between two f32; the product's last bit decides, and a double sum loses it.
    const a = Math.fround(1 + 2 ** -12);
    for (const c of [2 ** -60, -(2 ** -60)]) {
      const exact = addExact(multiplyExact(exactOf(a), exactOf(a)), exactOf(c), false);
      expect(fusedMultiplyAdd32(a, a, c)).toBe(roundToNumber(exact, binary32, 'nearestEven'));
    }
    expect(fusedMultiplyAdd32(a, a, -(2 ** -60))).not.toBe(fusedMultiplyAdd32(a, a, 2 ** -60));
    // Subnormal results have their midpoints elsewhere.
    expect(fusedMultiplyAdd32(2 ** -75, 2 ** -75, 2 ** -149)).toBe(2 * 2 ** -149);
    expect(fusedMultiplyAdd32(2 ** -75 * (1 - 2 ** -24), 2 ** -75, 2 ** -149)).toBe(2 ** -149);
    expect(fusedMultiplyAdd32(single(0x00000003), 0.5, 2 ** -140)).toBe(
      roundToNumber(
        addExact(multiplyExact(exactOf(single(3)), exactOf(0.5)), exactOf(2 ** -140), false),
        binary32,
        'nearestEven',
      ),
    );
  });

  it('has the signs of zero and the infinities of IEEE 754', () => {
    expect(add32(1, -1, 'towardNegative')).toBe(-0);
    expect(add32(1, -1, 'towardPositive')).toBe(0);
    expect(add32(-0, -0, 'towardPositive')).toBe(-0);
    expect(fusedMultiplyAdd32(1, 1, -1, 'towardNegative')).toBe(-0);
    expect(multiply32(3e38, 3e38, 'towardZero')).toBe(single(0x7f7fffff));
    expect(multiply32(-3e38, 3e38, 'towardPositive')).toBe(single(0xff7fffff));
    expect(fusedMultiplyAdd32(Infinity, 0, 1)).toBeNaN();
    expect(fusedMultiplyAdd32(2e38, 2e38, -Infinity, 'towardZero')).toBe(-Infinity);
  });

  it('flushes, saturates and picks numbers over NaN', () => {
    expect(flush32(-(2 ** -127))).toBe(-0);
    expect(flush32(2 ** -126)).toBe(2 ** -126);
    expect(flush32(NaN)).toBeNaN();
    expect([-1, -0, 0.25, 7, NaN, Infinity].map(saturate)).toEqual([0, 0, 0.25, 1, 0, 1]);
    expect([minimum(NaN, 1), minimum(2, NaN), minimum(0, -0)]).toEqual([1, 2, -0]);
    expect([maximum(NaN, -1), maximum(-0, 0), maximum(NaN, NaN)]).toEqual([-1, 0, NaN]);
  });
});

describe('f64 arithmetic', () => {
  it.each(roundings.slice(1))('adds and multiplies exactly, %s', (rounding) => {
    fc.assert(
      fc.property(doubles, doubles, (a, b) => {
        expect(add64(a, b, rounding)).toBe(roundToNumber(exactSum(a, b, rounding), binary64, rounding));
        const product = multiplyExact(exactOf(a), exactOf(b));
        expect(multiply64(a, b, rounding)).toBe(roundToNumber(product, binary64, rounding));
      }),
      { ...runs, numRuns: 800 },
    );
  });

  it('rounds a fused multiply-add once', () => {
    fc.assert(
      fc.property(doubles, doubles, doubles, (a, b, c) => {
        const exact = addExact(multiplyExact(exactOf(a), exactOf(b)), exactOf(c), false);
        if (exact.significand === 0n) return;
        expect(fusedMultiplyAdd64(a, b, c)).toBe(roundToNumber(exact, binary64, 'nearestEven'));
      }),
      { ...runs, numRuns: 10_000 },
    );
  });

  it('keeps what a cancelling sum leaves of the product', () => {
    const a = 1 + 2 ** -52;
    expect(fusedMultiplyAdd64(a, a, -(a * a))).toBe(2 ** -104);
  });
});

describe('f16', () => {
  it('converts every value there and back', () => {
    for (let bits = 0; bits < 0x10000; bits++) {
      const value = fromHalf(bits);
      if (value !== value) expect(toHalf(value)).toBe(0x7fff);
      else expect(toHalf(value)).toBe(bits);
    }
  });

  it('rounds to the nearer neighbour, ties to even', () => {
    for (let bits = 0; bits < 0x7bff; bits += 7) {
      const [low, high] = [fromHalf(bits), fromHalf(bits + 1)];
      const middle = (low + high) / 2;
      expect(toHalf(middle)).toBe(bits % 2 === 0 ? bits : bits + 1);
      expect(toHalf(middle - (high - low) / 1024)).toBe(bits);
      expect(toHalf(middle + (high - low) / 1024)).toBe(bits + 1);
      expect(toHalf(middle, 'towardZero')).toBe(bits);
      expect(toHalf(middle, 'towardPositive')).toBe(bits + 1);
    }
    expect(toHalf(65_519)).toBe(0x7bff);
    expect(toHalf(65_520)).toBe(0x7c00);
    expect(Number(roundToBits(exactOf(-65_520), binary16, 'towardPositive'))).toBe(0xfbff);
  });
});
