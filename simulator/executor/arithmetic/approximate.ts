import { flush32 } from './float.js';

/**
 * The `.approx` functions, the one definition of them: the interpreter calls these and compiled code calls or inlines
 * them. `exponential2` is the hardware's to the bit (`exponential.ts`); each of these goes through double precision and
 * rounds to f32 once, which is nearer to the truth than the hardware is (within one unit in the last place of the exact
 * result). `ftz` versions flush a subnormal input and result to zero.
 */

export function logarithm2(x: number): number {
  return Math.fround(Math.log2(x));
}

export function reciprocal(x: number): number {
  return Math.fround(1 / x);
}

export function reciprocalRoot(x: number): number {
  return Math.fround(1 / Math.sqrt(x));
}

export function root(x: number): number {
  return Math.fround(Math.sqrt(x));
}

export function sine(x: number): number {
  return Math.fround(Math.sin(x));
}

export function cosine(x: number): number {
  return Math.fround(Math.cos(x));
}

export function hyperbolicTangent(x: number): number {
  return Math.fround(Math.tanh(x));
}

/**
 * `div.approx`: a · (1/b). For b so large that its reciprocal is subnormal the hardware's reciprocal is zero, and PTX
 * says so: the quotient is then zero, or NaN when a is infinite.
 */
export function divideApproximately(a: number, b: number): number {
  const magnitude = Math.abs(b);
  if (magnitude > 2 ** 126 && magnitude < Infinity) return a * (b > 0 ? 0 : -0);
  return Math.fround(a / b);
}

/** `div.full`: a quotient over the whole range. */
export function divideFully(a: number, b: number): number {
  return Math.fround(a / b);
}

const scratch = new DataView(new ArrayBuffer(8));

/** `rcp.approx.ftz.f64`: a reciprocal in the upper word alone, rounded there; the lower word is zero. */
export function reciprocal64(x: number): number {
  const flushed = Math.abs(x) < 2 ** -1022 ? x * 0 : x;
  const exact = 1 / flushed;
  if (!Number.isFinite(exact)) return exact;
  if (Math.abs(exact) < 2 ** -1022) return exact * 0;
  scratch.setFloat64(0, exact);
  const upper = scratch.getUint32(0) + (scratch.getUint32(4) >= 0x80000000 ? 1 : 0);
  scratch.setUint32(0, upper);
  scratch.setUint32(4, 0);
  return scratch.getFloat64(0);
}

/** `rsqrt.approx.f64`, exact to double precision. */

export function reciprocalRoot64(x: number): number {
  return 1 / Math.sqrt(x);
}

/** Applies an f32 function under `.ftz`. */
export function flushed(apply: (x: number) => number): (x: number) => number {
  return (x) => flush32(apply(flush32(x)));
}
