import { bitsOfDouble, doubleOf, isNan64 } from './doubleBits.js';
import { flush32, fusedMultiplyAdd64 } from './float.js';
import {
  unitLogarithm,
  unitNan,
  unitReciprocal,
  unitReciprocal64,
  unitReciprocalRoot,
  unitReciprocalRoot64,
  unitRoot,
  unitSine,
  unitTangent,
} from './specialFunctions.js';

/**
 * The `.approx` functions to the bit, as the assembler expands them around the special function unit: without `.ftz` an
 * operand that the unit would take for zero, or whose result it would, is scaled before and the result after it. `.ftz`
 * versions are the same with operand and result flushed.
 */

const leastNormal = 2 ** -126;
const single = new Float32Array(1);
const word = new Int32Array(single.buffer);

/** A function of the unit as one of numbers. */
function overBits(unit: (bits: number) => number): (x: number) => number {
  return (x) => {
    single[0] = x;
    const bits = x !== x ? unitNan : unit(word[0] ?? 0);
    word[0] = bits;
    return single[0] ?? 0;
  };
}

const unit = {
  reciprocal: overBits(unitReciprocal),
  reciprocalRoot: overBits(unitReciprocalRoot),
  root: overBits(unitRoot),
  logarithm: overBits(unitLogarithm),
  sine: overBits((bits) => unitSine(bits, false)),
  cosine: overBits((bits) => unitSine(bits, true)),
};

export function reciprocal(x: number): number {
  const magnitude = Math.abs(x);
  const scale = magnitude < leastNormal ? 2 ** 24 : magnitude > 2 ** 126 ? 0.25 : 1;
  return Math.fround(unit.reciprocal(Math.fround(x * scale)) * scale);
}

export function reciprocalRoot(x: number): number {
  return Math.abs(x) < leastNormal ? unit.reciprocalRoot(x * 2 ** 24) * 2 ** 12 : unit.reciprocalRoot(x);
}

export function root(x: number): number {
  return Math.abs(x) < leastNormal ? unit.root(x * 2 ** 24) * 2 ** -12 : unit.root(x);
}

export function logarithm2(x: number): number {
  return Math.abs(x) < leastNormal ? Math.fround(unit.logarithm(x * 2 ** 24) - 24) : unit.logarithm(x);
}

/** 1/2π as the assembler writes it. */
const turns = 0.15915493667125701904;

/** The angle in turns, rounded towards zero. */
function inTurns(x: number): number {
  const exact = x * turns;
  single[0] = exact;
  const nearest = single[0] ?? 0;
  if (Math.abs(nearest) <= Math.abs(exact) || !Number.isFinite(nearest)) return nearest;
  word[0] = (word[0] ?? 0) - 1;
  return single[0] ?? 0;
}

export function sine(x: number): number {
  return unit.sine(inTurns(x));
}

export function cosine(x: number): number {
  return unit.cosine(inTurns(x));
}

export const hyperbolicTangent = overBits(unitTangent);

/** `div.approx`: a · (1/b); for b beyond 2^126 the unit's reciprocal is zero. */
export function divideApproximately(a: number, b: number): number {
  const scale = Math.abs(b) < leastNormal ? 2 ** 24 : 1;
  return Math.fround(unit.reciprocal(b * scale) * Math.fround(a * scale));
}

/** `div.approx.ftz` of flushed operands; the caller flushes the result. */
export function divideFlushed(a: number, b: number): number {
  return Math.fround(a * unit.reciprocal(b));
}

/** `div.full`: both operands scaled where the reciprocal would be subnormal, or the divisor is. */
export function divideFully(a: number, b: number): number {
  const magnitude = Math.abs(b);
  const scale = magnitude > 2 ** 126 ? 0.25 : magnitude < leastNormal ? 2 ** 24 : 1;
  return Math.fround(unit.reciprocal(Math.fround(b * scale)) * Math.fround(a * scale));
}

/** `rcp.approx.ftz.f64` of bits: the upper word alone is computed, the lower one is zero. */
export function reciprocal64(bits: bigint): bigint {
  return BigInt.asUintN(64, BigInt(unitReciprocal64(Number(BigInt.asIntN(32, bits >> 32n)))) << 32n);
}

/** `rsqrt.approx.ftz.f64`, likewise. */
export function reciprocalRootFlushed64(bits: bigint): bigint {
  return BigInt.asUintN(64, BigInt(unitReciprocalRoot64(Number(BigInt.asIntN(32, bits >> 32n)))) << 32n);
}

/** `rsqrt.approx.f64`: the unit's result and one step of Halley's method. Subnormal operands are scaled. */
export function reciprocalRoot64(bits: bigint): bigint {
  const x = doubleOf(bits);
  if (isNan64(bits) || !(Math.abs(x) >= 2 ** -1022 && x > 0 && x < Infinity)) return rareRoot64(bits, x);
  return bitsOfDouble(refined(bits, x));
}

function refined(bits: bigint, x: number): number {
  const start = doubleOf(reciprocalRootFlushed64(bits));
  const error = fusedMultiplyAdd64(x, -(start * start), 1);
  const factor = fusedMultiplyAdd64(error, 0.375, 0.5);
  return fusedMultiplyAdd64(factor, start * error, start);
}

function rareRoot64(bits: bigint, x: number): bigint {
  if (isNan64(bits)) return bits | (1n << 51n);
  if (x === 0) return (bits & (1n << 63n)) | 0x7ff0000000000000n;
  if (x < 0) return 0xfff8000000000000n;
  if (x === Infinity) return 0n;
  const scaled = x * 2 ** 54;
  return bitsOfDouble(refined(bitsOfDouble(scaled), scaled) * 2 ** 27);
}

/** Applies an f32 function under `.ftz`. */
export function flushed(apply: (x: number) => number): (x: number) => number {
  return (x) => flush32(apply(flush32(x)));
}
