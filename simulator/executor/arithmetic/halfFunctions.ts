import { hyperbolicTangent } from './approximate.js';
import { exponential2 } from './exponential.js';
import { flush32 } from './float.js';
import { halfFormatOf } from './half.js';

/** A function of f32 on halves, its result cut to them; what is too large becomes infinite. */
function cut(type: string, apply: (x: number) => number): (bits: number) => number {
  const { read, write } = halfFormatOf(type);
  const limit = type.startsWith('b') ? Infinity : 2 ** 16;
  return (bits) => {
    const result = apply(read(bits));
    return Math.abs(result) >= limit ? write(result * Infinity) : write(result, 'towardZero');
  };
}

/** `ex2.approx` of halves; bf16 flushes. */
export function halfExponential2(type: string): (bits: number) => number {
  return cut(type, type.startsWith('b') ? (x) => flush32(exponential2(x)) : exponential2);
}

/** `tanh.approx` of halves. */
export function halfTangent(type: string): (bits: number) => number {
  return cut(type, hyperbolicTangent);
}
