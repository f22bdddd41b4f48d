import type { ScalarType } from '../../ptx/index.js';
import { isSignedType } from '../../ptx/index.js';
import { compare } from './comparison.js';
import { comparisonOf } from './comparisonOperations.js';
import type { OperationMaker, OperationShape } from './operationTypes.js';
import { numeric } from './operationTypes.js';

/**
 * Packed video instructions: two half-words or four bytes, each picked out of a and b together (`.h31`: the upper from b,
 * the lower from a), and either put beside those of c that the mask leaves or added up with c.
 */
type Combine = (a: number, b: number) => number;

/** Digits of a selector or mask, the lowest part first. */
function digits(selector: string | undefined, otherwise: readonly number[]): readonly number[] {
  const text = /[bh](\d+)$/.exec(selector ?? '')?.[1];
  return text === undefined ? otherwise : [...text].reverse().map(Number);
}

function made(
  shape: OperationShape,
  types: readonly [to: ScalarType, a: ScalarType, b: ScalarType],
  combine: Combine,
): ReturnType<OperationMaker> {
  const count = shape.opcode.endsWith('2') ? 2 : 4;
  const bits = 32 / count;
  const all = Array.from({ length: count }, (_, index) => index);
  const [to, a, b] = types;
  const picks = {
    a: digits(shape.selectors[1], all),
    b: digits(
      shape.selectors[2],
      all.map((each) => each + count),
    ),
  };
  const mask = new Set(digits(shape.selectors[0], all));
  const field = (1 << bits) - 1;
  const greatest = isSignedType(to) ? field >> 1 : field;
  const least = isSignedType(to) ? -(field >> 1) - 1 : 0;
  const part = (x: number, y: number, at: number, isSigned: boolean): number => {
    const raw = ((at < count ? x : y) >>> ((at % count) * bits)) & field;
    return isSigned ? (raw << (32 - bits)) >> (32 - bits) : raw;
  };
  const one = (x: number, y: number, index: number): number => {
    const value = combine(
      part(x, y, picks.a[index] ?? 0, isSignedType(a)),
      part(x, y, picks.b[index] ?? 0, isSignedType(b)),
    );
    return shape.has('sat') ? Math.min(Math.max(value, least), greatest) : value;
  };
  const adds = shape.has('add');
  return {
    sources: ['b32', 'b32', 'b32'],
    result: 'b32',
    apply: numeric((x = 0, y = 0, z = 0) => {
      let result = adds ? z : 0;
      for (const index of all) {
        if (adds) result += mask.has(index) ? one(x, y, index) : 0;
        else {
          const value = mask.has(index) ? one(x, y, index) : z >>> (index * bits);
          result |= (value & field) << (index * bits);
        }
      }
      return result | 0;
    }),
  };
}

function typed(combine: Combine): OperationMaker {
  return (shape) => {
    const [to = 's32', a = 's32', b = 's32'] = shape.types;
    return made(shape, [to, a, b], combine);
  };
}

const set: OperationMaker = (shape) => {
  const [a = 's32', b = 's32'] = shape.types;
  const how = comparisonOf(shape);
  return made(shape, ['u32', a, b], (x, y) => (compare(how, x, y) ? 1 : 0));
};

/** Half of the sum, halves away from zero on the positive side. */
const average: Combine = (a, b) => (a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1);

const operations = {
  vadd: typed((a, b) => a + b),
  vsub: typed((a, b) => a - b),
  vavrg: typed(average),
  vabsdiff: typed((a, b) => Math.abs(a - b)),
  vmin: typed(Math.min),
  vmax: typed(Math.max),
  vset: set,
} satisfies Readonly<Record<string, OperationMaker>>;

type Packed = `${keyof typeof operations}${2 | 4}`;

export const packedVideoOperations = Object.fromEntries(
  Object.entries(operations).flatMap(([name, maker]) => [
    [`${name}2`, maker],
    [`${name}4`, maker],
  ]),
) as Readonly<Record<Packed, OperationMaker>>;
