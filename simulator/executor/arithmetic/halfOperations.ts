import type { ScalarType } from '../../ptx/index.js';
import { comparisonOf } from './comparisonOperations.js';
import { compare } from './comparison.js';
import { addExact, exactOf, multiplyExact, roundToBits } from './floatFormat.js';
import { canonicalNan16, halfFormatOf } from './half.js';
import type { HalfFormat } from './half.js';
import { halfExponential2, halfTangent } from './halfFunctions.js';
import type { OperationMaker, OperationShape, Value } from './operationTypes.js';
import { numeric } from './operationTypes.js';

/** Of bits; the result times 2^scale. */
type HalfFunction = (a: number, b: number, c: number, scale: number) => number;

/** Bits of operands to bits of the result, for one half or both of a packed register. */
function overHalves(shape: OperationShape, count: number, apply: HalfFunction): ReturnType<OperationMaker> {
  const isPacked = shape.bits === 32;
  const kind: ScalarType = isPacked ? 'b32' : 'b16';
  return {
    sources: Array.from({ length: count }, () => kind),
    result: kind,
    apply: numeric(
      isPacked
        ? (a = 0, b = 0, c = 0) =>
            apply(a & 0xffff, b & 0xffff, c & 0xffff, 0) | (apply(a >>> 16, b >>> 16, c >>> 16, 0) << 16)
        : (a = 0, b = 0, c = 0) => apply(a, b, c, 0),
    ),
  };
}

function isNan(value: number): boolean {
  return value !== value;
}

function flushed(bits: number, half: HalfFormat): number {
  return Math.abs(half.read(bits)) < half.leastNormal ? bits & 0x8000 : bits;
}

/**
 * Puts `.ftz` around operands and result, `.sat` and `.relu` after it. What would be subnormal if exponents had no end is
 * flushed: a result that is the least normal number may have been rounded up from below it.
 */
function around(shape: OperationShape, apply: HalfFunction, rounds = false): HalfFunction {
  const half = halfFormatOf(shape.type);
  const flushes = shape.has('ftz');
  const clamps = shape.has('sat');
  const rectifies = shape.has('relu');
  const flushing: HalfFunction = (x, y, z) => {
    const [a, b, c] = [flushed(x, half), flushed(y, half), flushed(z, half)];
    const bits = flushed(apply(a, b, c, 0), half);
    if (!rounds || Math.abs(half.read(bits)) !== half.leastNormal) return bits;
    return Math.abs(half.read(apply(a, b, c, 8))) < half.leastNormal * 2 ** 8 ? bits & 0x8000 : bits;
  };
  return (a, b, c) => {
    let result = flushes ? flushing(a, b, c, 0) : apply(a, b, c, 0);
    const value = half.read(result);
    if (clamps) result = value > 1 ? half.one : value > 0 ? result : 0;
    if (rectifies && !(value > 0) && !isNan(value)) result = 0;
    return result;
  };
}

/** Of halves in doubles: a sum that is not exact there is so lopsided that rounding twice does not matter. */
function arithmetic(count: number, apply: (a: number, b: number) => number): OperationMaker {
  return (shape) => {
    const { read, write } = halfFormatOf(shape.type);
    return overHalves(
      shape,
      count,
      around(shape, (a, b, _, scale) => write(apply(read(a), read(b)) * 2 ** scale), true),
    );
  };
}

const fused: OperationMaker = (shape) => {
  const { read, write, format } = halfFormatOf(shape.type);
  return overHalves(
    shape,
    3,
    around(
      shape,
      (a, b, c, scale) => {
        const [x, y, z] = [read(a), read(b), read(c)];
        const product = x * y;
        if (!Number.isFinite(product) || !Number.isFinite(z)) return write(product + z);
        const negativeZero = product === 0 && z === 0 && Object.is(product, -0) && Object.is(z, -0);
        const exact = addExact(multiplyExact(exactOf(x), exactOf(y)), exactOf(z), negativeZero);
        return Number(roundToBits({ ...exact, exponent: exact.exponent + scale }, format, 'nearestEven'));
      },
      true,
    ),
  );
};

function sign(change: (bits: number) => number): OperationMaker {
  return (shape) => {
    const half = halfFormatOf(shape.type);
    return overHalves(
      shape,
      1,
      around(shape, (a) => (isNan(half.read(a)) ? canonicalNan16 : change(a))),
    );
  };
}

/** A number wins over NaN unless `.NaN`; zeros are ordered by sign. `.xorsign.abs` compares magnitudes. */
function extreme(choose: (a: number, b: number) => number): OperationMaker {
  return (shape) => {
    const half = halfFormatOf(shape.type);
    const ofMagnitudes = shape.has('abs');
    return overHalves(
      shape,
      2,
      around(shape, (a, b) => {
        const mask = ofMagnitudes ? 0x7fff : 0xffff;
        const [x, y] = [half.read(a & mask), half.read(b & mask)];
        if (isNan(x) && isNan(y)) return canonicalNan16;
        if (isNan(x) || isNan(y)) {
          if (shape.has('NaN')) return canonicalNan16;
          const number = (isNan(x) ? b : a) & mask;
          return ofMagnitudes ? number | ((a ^ b) & 0x8000) : number;
        }
        const bits = half.write(choose(x, y));
        return ofMagnitudes ? bits | ((a ^ b) & 0x8000) : bits;
      }),
    );
  };
}

/** The comparison of two halves' bits. */
function tester(shape: OperationShape): (a: number, b: number) => boolean {
  const half = halfFormatOf(shape.type);
  const how = comparisonOf(shape);
  const read = shape.has('ftz') ? (bits: number) => half.read(flushed(bits, half)) : half.read;
  return (a, b) => compare(how, read(a), read(b));
}

function joiner(shape: OperationShape): (holds: boolean, p: Value) => number {
  if (shape.has('and')) return (holds, p) => (holds ? 1 : 0) & Number(p);
  if (shape.has('or')) return (holds, p) => (holds ? 1 : 0) | Number(p);
  if (shape.has('xor')) return (holds, p) => (holds ? 1 : 0) ^ Number(p);
  return (holds) => (holds ? 1 : 0);
}

/** Of packed halves `p|q` are the comparisons of the lower and upper ones; of a single one q is that p's opposite. */
const setPredicate: OperationMaker = (shape) => {
  const test = tester(shape);
  const join = joiner(shape);
  const isPacked = shape.bits === 32;
  const kind: ScalarType = isPacked ? 'b32' : 'b16';
  return {
    sources: [kind, kind, 'pred'],
    result: 'pred',
    apply: (a = 0, b = 0, p = 0) => join(test(Number(a) & 0xffff, Number(b) & 0xffff), p),
    second: isPacked
      ? (a = 0, b = 0, p = 0) => join(test(Number(a) >>> 16, Number(b) >>> 16), p)
      : (a = 0, b = 0, p = 0) => join(!test(Number(a), Number(b)), p),
  };
};

const set: OperationMaker = (shape) => {
  const test = tester(shape);
  const join = joiner(shape);
  const to = shape.types[0] ?? 'u16';
  const whenTrue = /^b?f16/.test(to) ? halfFormatOf(to).one : -1;
  if (shape.bits === 32) {
    const one = (a: number, b: number, p: Value): number =>
      join(test(a, b), p) === 1 ? whenTrue & 0xffff : 0;
    return {
      sources: ['b32', 'b32', 'pred'],
      result: 'b32',
      apply: (a = 0, b = 0, p = 0) =>
        one(Number(a) & 0xffff, Number(b) & 0xffff, p) | (one(Number(a) >>> 16, Number(b) >>> 16, p) << 16),
    };
  }
  return {
    sources: ['b16', 'b16', 'pred'],
    result: /32$/.test(to) ? 'b32' : 'b16',
    apply: (a = 0, b = 0, p = 0) => (join(test(Number(a), Number(b)), p) === 1 ? whenTrue : 0),
  };
};

export const halfOperations: Readonly<Record<string, OperationMaker>> = {
  add: arithmetic(2, (a, b) => a + b),
  sub: arithmetic(2, (a, b) => a - b),
  mul: arithmetic(2, (a, b) => a * b),
  fma: fused,
  neg: sign((bits) => bits ^ 0x8000),
  abs: sign((bits) => bits & 0x7fff),
  min: extreme(Math.min),
  max: extreme(Math.max),
  setp: setPredicate,
  set,
  ex2: (shape) => overHalves(shape, 1, halfExponential2(shape.type)),
  tanh: (shape) => overHalves(shape, 1, halfTangent(shape.type)),
};
