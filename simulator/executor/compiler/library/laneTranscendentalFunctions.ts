import { specialFunctionRows } from '../../arithmetic/index.js';
import { FunctionBuilder } from '../../../wasm/index.js';
import { fetchRows, pushFraction, pushPlain, pushSums, word } from './laneSpecialFunctions.js';
import type { Library } from './library.js';
import { TURNS } from './transcendentalFunctions.js';

/** The special function unit's sine, cosine and logarithm for four and for eight lanes at once, as `transcendentalFunctions.ts` has them. */

const INFINITY = 0x7f800000;
const NAN = 0x7fffffff;
const SIGN = -0x80000000;
const ONE = 0x3f800000;
const LEAST_NORMAL = 0x00800000;
const FRACTION = 0x7fffff;

function doubles(f: FunctionBuilder, value: number): FunctionBuilder {
  const [low = 0, high = 0] = new Int32Array(new Float64Array([value]).buffer);
  return f.v128(low, high, low, high);
}

/** Takes doubles and leaves them cut to 24 bits: as f32 they are exact, unless f32 has fewer bits for them. */
function pushCut(f: FunctionBuilder): FunctionBuilder {
  return f.v128(-0x20000000, -1, -0x20000000, -1).simd('v128And');
}

/**
 * Takes whole numbers below 2^51 of two lanes each and pushes f32 of four: they times a power of two, cut to 24 bits.
 * @param write pushes two lanes' numbers
 */
function pushNumbers(f: FunctionBuilder, scale: number, write: (half: 0 | 1) => void): FunctionBuilder {
  // The numbers are the lowest bits of a double that is large enough.
  const base = 2 ** 52 * scale;
  for (const half of [0, 1] as const) {
    write(half);
    doubles(f, base).simd('v128Or');
    doubles(f, base).simd('f64x2Sub');
    pushCut(f).simd('f32x4DemoteF64x2Zero');
  }
  return f.shuffleWords(0, 1, 4, 5);
}

/** Pushes the sums' addends of 64 segments for fractions of 23 bits. */
function sumsOf64(f: FunctionBuilder, fraction: number, firstRow: number): (half: 0 | 1) => void {
  const [offset, x] = [f.local('v128'), f.local('v128')];
  word(f.get(fraction).i32(13).simd('i32x4ShrU'), 0x3f0).simd('v128And').set(offset);
  word(f.get(fraction), 0x1ffff).simd('v128And').set(x);
  return pushSums(f, fetchRows(f, offset, firstRow), x, 17);
}

/** Pushes sines or cosines of the angles in a local. */
function pushOfAngle(f: FunctionBuilder, operand: number, isCosine: boolean): FunctionBuilder {
  const [turns, size, fixed, quarter, result] = [0, 1, 2, 3, 4].map(() => f.local('v128')) as [
    number,
    number,
    number,
    number,
    number,
  ];
  for (const half of [0, 1]) {
    f.get(operand);
    if (half === 1) f.get(operand).shuffleWords(2, 3, 2, 3);
    doubles(f.simd('f64x2PromoteLowF32x4'), TURNS).simd('f64x2Mul');
    pushCut(f).simd('f32x4DemoteF64x2Zero');
  }
  f.shuffleWords(0, 1, 4, 5).tee(turns).simd('f32x4Abs').tee(size);
  f.get(size).simd('f32x4Floor').simd('f32x4Sub');
  word(f, 0x4c000000).simd('f32x4Mul').simd('i32x4TruncSatF32x4S').tee(fixed);
  f.i32(23).simd('i32x4ShrU');
  if (isCosine) word(f, 1).simd('i32x4Add');
  f.set(quarter);
  // All bits of the fraction turn around in odd quarters.
  word(f.get(quarter).i32(31).simd('i32x4Shl').i32(31).simd('i32x4ShrS').get(fixed).simd('v128Xor'), FRACTION)
    .simd('v128And')
    .set(fixed);
  pushNumbers(f, 2 ** -37, sumsOf64(f, fixed, specialFunctionRows.sine));
  f.get(quarter).i32(30).simd('i32x4Shl');
  if (!isCosine) f.get(turns).simd('v128Xor');
  word(f, SIGN).simd('v128And').simd('v128Or').set(result);
  word(f, NAN).get(result);
  return word(f.get(size), INFINITY - 1)
    .simd('i32x4GtS')
    .simd('v128Bitselect');
}

/** Pushes logarithms of positive normal numbers. */
function pushPlainLogarithm(f: FunctionBuilder, bits: number): FunctionBuilder {
  const [fraction, exponent, isNegative] = [f.local('v128'), f.local('v128'), f.local('v128')];
  pushFraction(f, bits).set(fraction);
  word(f.get(bits).i32(23).simd('i32x4ShrU'), 127).simd('i32x4Sub').set(exponent);
  // The fraction's logarithm is below one, so that the exponent has the sign.
  f.get(exponent).i32(31).simd('i32x4ShrS').set(isNegative);
  const sums = sumsOf64(f, fraction, specialFunctionRows.logarithm);
  pushNumbers(f, 2 ** -36, (half) => {
    const part = half === 0 ? 'Low' : 'High';
    f.get(exponent).simd(`i64x2Extend${part}I32x4S`).i32(36).simd('i64x2Shl');
    sums(half);
    f.i32(2).simd('i64x2ShrS').simd('i64x2Add');
    f.get(isNegative).simd(`i64x2Extend${part}I32x4S`).simd('v128Xor');
  });
  word(f.get(isNegative), SIGN).simd('v128And').simd('v128Or');
  // Of one it is zero.
  return word(f.get(bits), ONE).simd('i32x4Eq').simd('v128AndNot');
}

function unary(): FunctionBuilder {
  return new FunctionBuilder(['v128'], ['v128']);
}

/** 24 less than of 2^24 times what the unit would take for zero. */
function logarithm2Lanes(): FunctionBuilder {
  const f = unary();
  const [isSmall, bits, result] = [f.local('v128'), f.local('v128'), f.local('v128')];
  pushPlain(f, [0], INFINITY - 1).if();
  pushPlainLogarithm(f, 0).op('return').end();
  const least = (): FunctionBuilder => word(f, LEAST_NORMAL);
  least().get(0).simd('f32x4Abs').simd('f32x4Gt').set(isSmall);
  word(f, 0x4b800000);
  word(f, ONE).get(isSmall).simd('v128Bitselect').get(0).simd('f32x4Mul').set(bits);
  pushPlainLogarithm(f, bits);
  word(f, 0x41c00000).get(isSmall).simd('v128And').simd('f32x4Sub').set(result);
  // Zeros, what is negative, infinite or no number.
  const replace = (by: number, write: () => void): void => {
    word(f, by).get(result);
    write();
    f.simd('v128Bitselect').set(result);
  };
  replace(INFINITY, () => word(f.get(0), INFINITY).simd('i32x4Eq'));
  replace(NAN, () => f.get(0).v128(0, 0, 0, 0).simd('f32x4Ge').simd('v128Not'));
  replace(INFINITY | SIGN, () => f.get(0).v128(0, 0, 0, 0).simd('f32x4Eq'));
  return f.get(result);
}

function logarithm2PairLanes(library: Library): FunctionBuilder {
  const f = new FunctionBuilder(['v128', 'v128'], ['v128', 'v128']);
  pushPlain(f, [0, 1], INFINITY - 1).if();
  pushPlainLogarithm(f, 0);
  pushPlainLogarithm(f, 1).op('return').end();
  const one = library.index('logarithm2Lanes');
  return f.get(0).call(one).get(1).call(one);
}

function ofAngle(isCosine: boolean): () => FunctionBuilder {
  return () => pushOfAngle(unary(), 0, isCosine);
}

function ofAnglePair(isCosine: boolean): () => FunctionBuilder {
  return () => {
    const f = new FunctionBuilder(['v128', 'v128'], ['v128', 'v128']);
    return pushOfAngle(pushOfAngle(f, 0, isCosine), 1, isCosine);
  };
}

export const laneTranscendentalFunctionMakers = {
  logarithm2Lanes,
  logarithm2PairLanes,
  sineLanes: ofAngle(false),
  sinePairLanes: ofAnglePair(false),
  cosineLanes: ofAngle(true),
  cosinePairLanes: ofAnglePair(true),
} satisfies Record<string, (library: Library) => FunctionBuilder>;
