import type { FunctionBuilder } from '../../../wasm/index.js';

/** Of two vectors on the stack, in turn, the elements of their lower or upper halves. */
export function interleave(f: FunctionBuilder, bits: 8 | 16 | 32 | 64, half: 'low' | 'high'): void {
  const bytes = bits / 8;
  const first = half === 'high' ? 8 : 0;
  f.shuffle(
    Array.from({ length: 16 }, (_, at) => {
      const element = Math.floor(at / bytes);
      return (element % 2) * 16 + first + (element >> 1) * bytes + (at % bytes);
    }),
  );
}

/**
 * Rows of a square matrix, in locals, become its columns, in locals that are returned.
 * @param spare as many locals besides
 */
export function transpose(
  f: FunctionBuilder,
  bits: 16 | 32,
  rows: readonly number[],
  spare: readonly number[],
): readonly number[] {
  const half = rows.length / 2;
  let [from, to] = [rows, spare];
  // Each step interleaves the first half of all that there is with the second.
  for (let length = 1; length < rows.length; length *= 2) {
    for (let at = 0; at < half; at++) {
      for (const part of ['low', 'high'] as const) {
        f.get(from[at] ?? 0).get(from[at + half] ?? 0);
        interleave(f, bits, part);
        f.set(to[2 * at + (part === 'low' ? 0 : 1)] ?? 0);
      }
    }
    [from, to] = [to, from];
  }
  return from;
}

export function vectorLocals(f: FunctionBuilder, count: number): readonly number[] {
  return Array.from({ length: count }, () => f.local('v128'));
}
