import { exponential2 } from './exponential.js';
import { halfFormatOf } from './half.js';

/** `ex2.approx` of halves. */
export function halfExponential2(type: string): (bits: number) => number {
  const { read, write } = halfFormatOf(type);
  return (bits) => write(exponential2(read(bits)));
}

/** `tanh.approx` of halves. */
export function halfTangent(type: string): (bits: number) => number {
  const { read, write } = halfFormatOf(type);
  return (bits) => write(Math.tanh(read(bits)));
}
