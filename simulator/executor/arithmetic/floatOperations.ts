import {
  cosine,
  divideApproximately,
  divideFlushed,
  divideFully,
  hyperbolicTangent,
  logarithm2,
  reciprocal,
  reciprocal64,
  reciprocalRoot,
  reciprocalRoot64,
  reciprocalRootFlushed64,
  root,
  sine,
} from './approximate.js';
import { exponential2 } from './exponential.js';
import {
  add32,
  add64,
  divide32,
  divide64,
  flush32,
  fusedMultiplyAdd32,
  fusedMultiplyAdd64,
  maximum,
  minimum,
  multiply32,
  multiply64,
  saturate,
  smallestNormal32,
  squareRoot32,
  squareRoot64,
} from './float.js';
import type { Rounding } from './floatFormat.js';
import { isNan64, overDoubles, quiet64 } from './doubleBits.js';
import type { OperationMaker, OperationShape } from './operationTypes.js';
import { big, numeric } from './operationTypes.js';

/** Rounding among the modifiers; `.rn` where none is written. */
export function roundingOf(has: (modifier: string) => boolean): Rounding {
  if (has('rz') || has('rzi')) return 'towardZero';
  if (has('rm') || has('rmi')) return 'towardNegative';
  if (has('rp') || has('rpi')) return 'towardPositive';
  return 'nearestEven';
}

type Rounded = (a: number, b: number, rounding: Rounding) => number;

type Rounded32 = (a: number, b: number, c: number, rounding: Rounding) => number;

/** Powers of two by which operands are multiplied to get 2^64 times the result; none where results are exact. */
type Scaling = readonly [a: number, b: number, c: number];

/**
 * Puts `.ftz` around operands and result and `.sat` after it; both exist for f32 only. What would be subnormal if
 * exponents had no end is flushed: a result that is the least normal number may have been rounded up from below it.
 */
function around(shape: OperationShape, apply: Rounded32, scaling?: Scaling): ReturnType<OperationMaker> {
  const rounding = roundingOf(shape.has);
  const clamps = shape.has('sat');
  if (!shape.has('ftz')) {
    if (!clamps) return { apply: numeric((a = 0, b = 0, c = 0) => apply(a, b, c, rounding)) };
    return { apply: numeric((a = 0, b = 0, c = 0) => saturate(apply(a, b, c, rounding))) };
  }
  const flushed = (x: number, y: number, z: number): number => {
    const [a, b, c] = [flush32(x), flush32(y), flush32(z)];
    const result = flush32(apply(a, b, c, rounding));
    if (scaling === undefined || Math.abs(result) !== smallestNormal32) return result;
    const scaled = apply(a * scaling[0], b * scaling[1], c * scaling[2], rounding);
    return Math.abs(scaled) < smallestNormal32 * 2 ** 64 ? result * 0 : result;
  };
  return {
    apply: numeric(
      clamps
        ? (a = 0, b = 0, c = 0) => saturate(flushed(a, b, c))
        : (a = 0, b = 0, c = 0) => flushed(a, b, c),
    ),
  };
}

/** An f64 operation; of several NaN operands the result is the first in `order`. */
function doubles(
  apply: (a: number, b: number, c: number) => number,
  order: readonly (0 | 1 | 2)[],
): ReturnType<OperationMaker> {
  return {
    sources: order.map(() => 'b64' as const),
    result: 'b64',
    apply: big(overDoubles(apply, order)),
    numbers: (a = 0, b = 0, c = 0) => apply(a, b, c),
  };
}

function binary(
  single: Rounded,
  double: Rounded,
  order: readonly (0 | 1)[] = [1, 0],
  scaling?: Scaling,
): OperationMaker {
  return (shape) => {
    const rounding = roundingOf(shape.has);
    if (shape.bits === 64) return doubles((a, b) => double(a, b, rounding), order);
    return around(shape, (a, b, _, how) => single(a, b, how), scaling);
  };
}

function unary(single: (a: number) => number): OperationMaker {
  return (shape) => around(shape, single);
}

/** An f64 function of bits. */
function words(apply: (bits: bigint) => bigint): ReturnType<OperationMaker> {
  return { sources: ['b64'], result: 'b64', apply: big((a = 0n) => apply(a)) };
}

const fused: OperationMaker = (shape) => {
  const rounding = roundingOf(shape.has);
  if (shape.bits === 64) return doubles((a, b, c) => fusedMultiplyAdd64(a, b, c, rounding), [1, 2, 0]);
  return around(shape, fusedMultiplyAdd32, [2 ** 64, 1, 2 ** 64]);
};

const subtract32: Rounded = (a, b, rounding) => add32(a, -b, rounding);
const subtract64: Rounded = (a, b, rounding) => add64(a, -b, rounding);

/** A number wins over NaN unless `.NaN`; `.xorsign.abs` compares magnitudes and takes the product's sign. */
function extreme(choose: (a: number, b: number) => number): OperationMaker {
  return (shape) => {
    if (shape.bits === 64) return doubles(choose, [1, 0]);
    const chosen: typeof choose = shape.has('NaN')
      ? (a, b) => (a !== a || b !== b ? NaN : choose(a, b))
      : choose;
    if (!shape.has('abs')) return around(shape, chosen);
    const ofMagnitudes = around(shape, (a, b) => chosen(Math.abs(a), Math.abs(b)));
    return {
      sources: ['b32', 'b32'],
      result: 'f32',
      apply: numeric((a = 0, b = 0) => {
        const magnitude = Number(ofMagnitudes.apply(numberOf32(a), numberOf32(b)));
        return (a ^ b) < 0 ? -magnitude : magnitude;
      }),
    };
  };
}

const single = new Float32Array(1);
const word = new Int32Array(single.buffer);

function numberOf32(bits: number): number {
  word[0] = bits;
  return single[0] ?? 0;
}

/** `neg.f64` and `abs.f64` leave a NaN's sign alone. */
function sign(single: (a: number) => number, double: (bits: bigint) => bigint): OperationMaker {
  return (shape) => {
    if (shape.bits !== 64) return around(shape, single);
    return {
      sources: ['b64'],
      result: 'b64',
      apply: big((a = 0n) => (isNan64(a) ? quiet64(a) : double(a))),
    };
  };
}

const signBit = 1n << 63n;

export const floatOperations = {
  'add.float': binary(add32, add64),
  'sub.float': binary(subtract32, subtract64),
  'mul.float': binary(multiply32, multiply64, [1, 0], [2 ** 64, 1, 1]),
  'mad.float': fused,
  fma: fused,
  'div.float': (shape) => {
    if (shape.has('approx'))
      return around(shape, shape.has('ftz') ? divideFlushed : divideApproximately, [2 ** 64, 1, 1]);
    if (shape.has('full')) return around(shape, divideFully, [2 ** 64, 1, 1]);
    return binary(divide32, divide64, [0, 1], [2 ** 64, 1, 1])(shape);
  },
  'neg.float': sign(
    (a) => -a,
    (a) => a ^ signBit,
  ),
  'abs.float': sign(Math.abs, (a) => a & ~signBit),
  'min.float': extreme(minimum),
  'max.float': extreme(maximum),
  rcp: (shape) => {
    if (shape.has('approx')) return shape.bits === 64 ? words(reciprocal64) : around(shape, reciprocal);
    const rounding = roundingOf(shape.has);
    if (shape.bits === 64) return doubles((a) => divide64(1, a, rounding), [0]);
    return around(shape, (a, _b, _c, how) => divide32(1, a, how), [2 ** -64, 1, 1]);
  },
  sqrt: (shape) => {
    if (shape.has('approx')) return around(shape, root);
    const rounding = roundingOf(shape.has);
    if (shape.bits === 64) return doubles((a) => squareRoot64(a, rounding), [0]);
    return around(shape, (a, _b, _c, how) => squareRoot32(a, how));
  },
  rsqrt: (shape) => {
    if (shape.bits === 64) return words(shape.has('ftz') ? reciprocalRootFlushed64 : reciprocalRoot64);
    return around(shape, reciprocalRoot);
  },
  sin: unary(sine),
  cos: unary(cosine),
  lg2: unary(logarithm2),
  ex2: unary(exponential2),
  tanh: unary(hyperbolicTangent),
} satisfies Readonly<Record<string, OperationMaker>>;
