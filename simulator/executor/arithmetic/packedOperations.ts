import type { OperationMaker } from './operationTypes.js';
import { numeric } from './operationTypes.js';

/** Two 16-bit integers in a register. */
function lanes(apply: (a: number, b: number) => number): OperationMaker {
  return ({ type, has }) => {
    const part =
      type === 's16x2'
        ? (word: number, shift: number) => (word << (16 - shift)) >> 16
        : (word: number, shift: number) => (word >>> shift) & 0xffff;
    const relu = has('relu');
    const one = (a: number, b: number, shift: number): number => {
      const result = apply(part(a, shift), part(b, shift));
      return ((relu ? Math.max(result, 0) : result) & 0xffff) << shift;
    };
    return {
      sources: ['b32', 'b32'],
      result: 'b32',
      apply: numeric((a = 0, b = 0) => one(a, b, 0) | one(a, b, 16)),
    };
  };
}

export const packedIntegerOperations: Readonly<Record<string, OperationMaker>> = {
  add: lanes((a, b) => a + b),
  min: lanes(Math.min),
  max: lanes(Math.max),
};
