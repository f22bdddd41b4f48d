import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clampInteger,
  divide,
  divideBig,
  dotBytes,
  extractField,
  findLeadingBit,
  floatToInteger,
  funnelLeft,
  funnelRight,
  insertField,
  integerToFloat,
  logic3,
  multiplyHigh32,
  multiplyHighUnsigned32,
  permuteBytes,
  populationCount,
  remainder,
  reverseBits,
  shiftLeft,
  shiftLeft64,
  shiftRight,
  shiftRight64,
  shiftRightSigned,
  toIntegral,
} from './index.js';

const runs = { numRuns: 2000, seed: 20_260_102 };
const edges = [0, 1, -1, 2, 31, 32, 33, 0x7fffffff, -0x80000000, 0x55555555];
const words = fc.oneof(fc.constantFrom(...edges), fc.integer({ min: -0x80000000, max: 0x7fffffff }));
const longs = fc.oneof(
  fc.constantFrom(0n, 1n, (1n << 63n) - 1n, 1n << 63n, (1n << 64n) - 1n),
  fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
);
const counts = fc.oneof(fc.integer({ min: 0, max: 70 }), words);

const wrap = (value: bigint): number => Number(BigInt.asIntN(32, value));

describe('shifts', () => {
  it('clamp their count at the width', () => {
    fc.assert(
      fc.property(words, counts, (a, count) => {
        const by = BigInt(Math.min(count >>> 0, 64));
        expect(shiftLeft(a, count, 32) | 0).toBe(wrap(BigInt(a) << by));
        expect(shiftRight(a >>> 0, count, 32) | 0).toBe(wrap(BigInt(a >>> 0) >> by));
        expect(shiftRightSigned(a, count, 32)).toBe(wrap(BigInt(a) >> by));
      }),
      runs,
    );
    expect([shiftLeft(1, 32, 32), shiftRight(0x80000000, 32, 32), shiftRightSigned(-5, 99, 32)]).toEqual([
      0, 0, -1,
    ]);
    expect([shiftRight(0xffff, 16, 16), shiftRightSigned(-1, 16, 16)]).toEqual([0, -1]);
  });

  it('clamp at 64 for 64 bits', () => {
    fc.assert(
      fc.property(longs, counts, (a, count) => {
        const by = BigInt(count >>> 0);
        expect(shiftLeft64(a, count)).toBe(by > 63n ? 0n : BigInt.asUintN(64, a << by));
        expect(shiftRight64(a, count)).toBe(by > 63n ? 0n : a >> by);
      }),
      runs,
    );
  });

  it('funnel through both words', () => {
    fc.assert(
      fc.property(words, words, counts, (low, high, count) => {
        const both = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
        for (const clamp of [true, false]) {
          const by = BigInt(clamp ? Math.min(count >>> 0, 32) : count & 31);
          expect(funnelLeft(low, high, count, clamp)).toBe(wrap((both << by) >> 32n));
          expect(funnelRight(low, high, count, clamp)).toBe(wrap(both >> by));
        }
      }),
      runs,
    );
  });
});

describe('products and quotients', () => {
  it('have the high word of the full product', () => {
    fc.assert(
      fc.property(words, words, (a, b) => {
        expect(multiplyHigh32(a, b)).toBe(wrap((BigInt(a) * BigInt(b)) >> 32n));
        expect(multiplyHighUnsigned32(a, b)).toBe(wrap((BigInt(a >>> 0) * BigInt(b >>> 0)) >> 32n));
      }),
      runs,
    );
  });

  it('never trap', () => {
    fc.assert(
      fc.property(words, words, (a, b) => {
        if (b === 0) return;
        expect(divide(a, b) | 0).toBe(wrap(BigInt(a) / BigInt(b)));
        expect(remainder(a, b) | 0).toBe(wrap(BigInt(a) % BigInt(b)));
        expect(divide(a >>> 0, b >>> 0) | 0).toBe(wrap(BigInt(a >>> 0) / BigInt(b >>> 0)));
      }),
      runs,
    );
    expect(divide(-0x80000000, -1) | 0).toBe(-0x80000000);
    expect(remainder(-0x80000000, -1)).toBe(0);
    expect([divide(7, 0), divide(0, 0), remainder(7, 0), divideBig(7n, 0n)]).toEqual([-1, -1, -1, -1n]);
  });
});

describe('bits', () => {
  it('count, reverse and find them', () => {
    fc.assert(
      fc.property(words, (a) => {
        const binary = (a >>> 0).toString(2).padStart(32, '0');
        expect(populationCount(a)).toBe(binary.replaceAll('0', '').length);
        expect(reverseBits(a) >>> 0).toBe(parseInt([...binary].reverse().join(''), 2));
        expect(findLeadingBit(BigInt(a >>> 0), 32, false)).toBe(a === 0 ? -1 : 31 - binary.indexOf('1'));
        const other = a < 0 ? '0' : '1';
        expect(findLeadingBit(BigInt(a), 32, true)).toBe(
          binary.includes(other) ? 31 - binary.indexOf(other) : -1,
        );
      }),
      runs,
    );
  });

  it('take fields out and put them in bit by bit', () => {
    const small = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(longs, longs, small, small, (a, b, position, length) => {
        const bit = (value: bigint, at: number): bigint => (value >> BigInt(at)) & 1n;
        for (const isSigned of [false, true]) {
          const sign = isSigned && length > 0 ? bit(a, Math.min(position + length - 1, 63)) : 0n;
          let field = 0n;
          let inserted = b;
          for (let i = 0; i < 64; i++) {
            field |= (i < length && position + i < 64 ? bit(a, position + i) : sign) << BigInt(i);
            if (i < length && position + i < 64) {
              const at = BigInt(position + i);
              inserted = (inserted & ~(1n << at)) | (bit(a, i) << at);
            }
          }
          expect(BigInt.asUintN(64, extractField(a, position, length, 64, isSigned))).toBe(field);
          expect(insertField(a, b, position, length, 64)).toBe(inserted);
        }
      }),
      { ...runs, numRuns: 500 },
    );
  });

  it('make any function of three bits', () => {
    for (let table = 0; table < 256; table++) {
      // Each column of these constants is one row of a truth table.
      expect(logic3(0xf0, 0xcc, 0xaa, table) & 0xff).toBe(table);
    }
  });

  it('pick bytes, with their sign when asked', () => {
    expect(permuteBytes(0x33221100, 0x77665544, 0x7041) >>> 0).toBe(0x77004411);
    expect(permuteBytes(0x00008000, 0, 0x9999) >>> 0).toBe(0xffffffff);
    expect(permuteBytes(0x33221100, 0x77665544, 1, 'f4e') >>> 0).toBe(0x44332211);
  });

  it('sum products of bytes', () => {
    expect(dotBytes(0x01ff8002, 0x02030405, 10, true, false)).toBe(10 + 2 * 5 + -128 * 4 + -1 * 3 + 1 * 2);
    expect(dotBytes(-1, -1, 0, false, false)).toBe(4 * 255 * 255);
  });
});

describe('conversions', () => {
  const doubles = fc.oneof(
    fc.double(),
    fc.double({ min: -70_000, max: 70_000 }),
    fc.integer({ min: -1000, max: 1000 }).map((value) => value / 2),
  );

  it('round to integers in four ways', () => {
    fc.assert(
      fc.property(doubles, (value) => {
        const even = toIntegral(value, 'nearestEven');
        if (Math.abs(value) < 2 ** 52) {
          expect(Math.abs(even - value)).toBeLessThanOrEqual(0.5);
          if (Math.abs(even - value) === 0.5) expect(Math.abs(even % 2)).toBe(0);
        } else expect(even).toEqual(value);
        expect(toIntegral(value, 'towardZero')).toEqual(Math.trunc(value));
      }),
      runs,
    );
    expect([
      toIntegral(-0.5, 'nearestEven'),
      toIntegral(2.5, 'nearestEven'),
      toIntegral(-0.3, 'towardPositive'),
    ]).toEqual([-0, 2, -0]);
  });

  it('clamp to the integer type', () => {
    expect(floatToInteger(3e9, 32, true, 'towardZero', 0n)).toBe(0x7fffffffn);
    expect(floatToInteger(-1, 32, false, 'towardZero', 0n)).toBe(0n);
    expect(floatToInteger(-Infinity, 64, true, 'towardZero', 0n)).toBe(-(1n << 63n));
    expect(floatToInteger(NaN, 32, true, 'towardZero', 5n)).toBe(5n);
    expect(clampInteger(300n, 8, false)).toBe(255n);
    expect(clampInteger(-300n, 8, true)).toBe(-128n);
  });

  it('round 64-bit integers to floats once', () => {
    fc.assert(
      fc.property(longs, (value) => {
        expect(integerToFloat(value, 64, 'nearestEven')).toBe(Number(value));
        const single = integerToFloat(value, 32, 'nearestEven');
        expect(Math.fround(single)).toBe(single);
        const [down, up] = [
          integerToFloat(value, 32, 'towardNegative'),
          integerToFloat(value, 32, 'towardPositive'),
        ];
        expect(BigInt(down) <= value && value <= BigInt(up)).toBe(true);
        const [below, above] = [value - BigInt(down), BigInt(up) - value];
        expect(single).toBe(below < above ? down : above < below ? up : single);
      }),
      runs,
    );
    // As a double this rounds to the midpoint of two f32, and from there the wrong way.
    expect(integerToFloat(0x4000_0040_0000_0001n, 32, 'nearestEven')).toBe(0x4000_0080_0000_0000);
  });
});
