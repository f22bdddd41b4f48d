import type { ScalarType } from '../../ptx/index.js';
import { isSignedType } from '../../ptx/index.js';
import { compare } from './comparison.js';
import { comparisonOf } from './comparisonOperations.js';
import type { OperationMaker, OperationShape } from './operationTypes.js';
import { numeric } from './operationTypes.js';
import { packedVideoOperations } from './packedVideoOperations.js';

/**
 * Scalar video instructions: parts of a and b are extended by the signs of their types, combined in more than 32 bits,
 * saturated to the part that is written, then put into c or combined with it.
 */
type Combine = (a: number, b: number) => number;

interface Part {
  readonly shift: number;
  readonly bits: 8 | 16 | 32;
  readonly isNegated: boolean;
}

function partOf(selector: string | undefined): Part {
  const text = selector ?? '';
  const match = /([bh])(\d)$/.exec(text);
  const bits = match === null ? 32 : match[1] === 'b' ? 8 : 16;
  return { shift: bits * Number(match?.[2] ?? 0), bits, isNegated: text.startsWith('-') };
}

function pick(part: Part, isSigned: boolean): (word: number) => number {
  const { shift, bits } = part;
  if (isSigned) return (word) => (word << (32 - bits - shift)) >> (32 - bits);
  return (word) => (word << (32 - bits - shift)) >>> (32 - bits);
}

/** The assembler's code for a whole unsigned word tests the sign alone: what is too large wraps. */
function clamp(value: number, bits: number, isSigned: boolean): number {
  if (bits === 32 && !isSigned) return Math.max(value, 0);
  const greatest = isSigned ? 2 ** (bits - 1) - 1 : 2 ** bits - 1;
  const least = isSigned ? -(2 ** (bits - 1)) : 0;
  return Math.min(Math.max(value, least), greatest);
}

/** The secondary operation with c, or the merge into it. */
function finish(shape: OperationShape, isSigned: boolean): (value: number, c: number) => number {
  const { shift, bits } = partOf(shape.selectors[0]);
  const typed = (word: number): number => (isSigned ? word | 0 : word >>> 0);
  if (shape.has('add')) return (value, c) => (value + c) | 0;
  if (shape.has('min')) return (value, c) => Math.min(typed(value), typed(c));
  if (shape.has('max')) return (value, c) => Math.max(typed(value), typed(c));
  if (bits === 32) return (value) => value | 0;
  const mask = ((1 << bits) - 1) << shift;
  // The assembler's code leaves a half-word result in place for `.h1`: its upper half is what is merged.
  if (bits === 16 && shift === 16) return (value, c) => (c & ~mask) | (value & mask);
  return (value, c) => (c & ~mask) | ((value << shift) & mask);
}

const sources: readonly ScalarType[] = ['b32', 'b32', 'b32'];

function operation(shape: OperationShape, combine: Combine): ReturnType<OperationMaker> {
  const [to = 's32', a = 's32', b = 's32'] = shape.types;
  const [first, second] = [
    pick(partOf(shape.selectors[1]), isSignedType(a)),
    pick(partOf(shape.selectors[2]), isSignedType(b)),
  ];
  const isSigned = isSignedType(to);
  const { bits } = partOf(shape.selectors[0]);
  const saturate = shape.has('sat');
  const end = finish(shape, isSigned);
  return {
    sources,
    result: 'b32',
    apply: numeric((x = 0, y = 0, z = 0) => {
      const value = combine(first(x), second(y));
      return end(saturate ? clamp(value, bits, isSigned) : value, z);
    }),
  };
}

function binary(combine: Combine): OperationMaker {
  return (shape) => operation(shape, combine);
}

function shift(direction: 'left' | 'right'): OperationMaker {
  return (shape) => {
    const wraps = shape.has('wrap');
    return operation(shape, (a, b) => {
      const count = wraps ? b & 31 : Math.min(b >>> 0, 32);
      if (direction === 'left') return count === 32 ? 0 : a << count;
      return Math.floor(a / 2 ** count);
    });
  };
}

const multiplyAdd: OperationMaker = (shape) => {
  const [, aType = 's32', bType = 's32'] = shape.types;
  const parts = [1, 2, 3].map((index) => partOf(shape.selectors[index]));
  const [aPart = partOf(''), bPart = partOf(''), cPart = partOf('')] = parts;
  const [first, second] = [pick(aPart, isSignedType(aType)), pick(bPart, isSignedType(bType))];
  const negatesProduct = aPart.isNegated !== bPart.isNegated;
  const isSigned = isSignedType(aType) || isSignedType(bType) || negatesProduct || cPart.isNegated;
  const scale = shape.has('shr7') ? 7n : shape.has('shr15') ? 15n : 0n;
  return {
    sources,
    result: 'b32',
    apply: numeric((x = 0, y = 0, z = 0) => {
      let product = BigInt(first(x)) * BigInt(second(y));
      let addend = BigInt(z | 0);
      if (shape.has('po')) product += 1n;
      else if (negatesProduct) product = -product;
      else if (cPart.isNegated) addend = -addend;
      const sum = product + addend;
      const result = (isSigned ? sum : BigInt.asUintN(64, sum)) >> scale;
      if (!shape.has('sat')) return Number(BigInt.asIntN(32, result));
      const [least, greatest] = isSigned ? [-(1n << 31n), (1n << 31n) - 1n] : [0n, (1n << 32n) - 1n];
      return Number(BigInt.asIntN(32, result < least ? least : result > greatest ? greatest : result));
    }),
  };
};

const set: OperationMaker = (shape) => {
  const [a = 's32', b = 's32'] = shape.types;
  const how = comparisonOf(shape);
  const first = pick(partOf(shape.selectors[1]), isSignedType(a));
  const second = pick(partOf(shape.selectors[2]), isSignedType(b));
  const end = finish(shape, false);
  return {
    sources,
    result: 'b32',
    apply: numeric((x = 0, y = 0, z = 0) => end(compare(how, first(x), second(y)) ? 1 : 0, z)),
  };
};

export const videoOperations = {
  vadd: binary((a, b) => a + b),
  vsub: binary((a, b) => a - b),
  vabsdiff: binary((a, b) => Math.abs(a - b)),
  vmin: binary(Math.min),
  vmax: binary(Math.max),
  vshl: shift('left'),
  vshr: shift('right'),
  vmad: multiplyAdd,
  vset: set,
  ...packedVideoOperations,
} satisfies Readonly<Record<string, OperationMaker>>;
