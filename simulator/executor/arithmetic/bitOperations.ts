import type { ScalarType } from '../../ptx/index.js';
import {
  bitMask,
  dotBytes,
  dotHalves,
  extend,
  extractField,
  findLeadingBit,
  findNthSet,
  funnelLeft,
  funnelRight,
  highWord,
  insertField,
  joinWords,
  logic3,
  lowWord,
  permuteBytes,
  populationCount,
  reverseBits,
  shiftLeft,
  shiftLeft64,
  shiftRight,
  shiftRight64,
  shiftRightSigned,
} from './integer.js';
import type { PermuteMode } from './integer.js';
import type { OperationMaker, OperationShape } from './operationTypes.js';
import { big, numeric } from './operationTypes.js';

type Width = 32 | 64;

function logic(
  narrow: (a: number, b: number) => number,
  wide: (a: bigint, b: bigint) => bigint,
): OperationMaker {
  return ({ bits }) => ({
    apply: bits === 64 ? big((a = 0n, b = 0n) => wide(a, b)) : numeric((a = 0, b = 0) => narrow(a, b)),
  });
}

function width(shape: OperationShape): Width {
  return shape.bits === 64 ? 64 : 32;
}

/** A function of BigInts over operands of either width. */
function overBig(apply: (a: bigint, b: bigint, c: number, d: number) => bigint, is64: boolean) {
  return (a: number | bigint = 0, b: number | bigint = 0, c: number | bigint = 0, d: number | bigint = 0) => {
    const result = apply(BigInt(a), BigInt(b), Number(c), Number(d));
    return is64 ? result : Number(BigInt.asIntN(32, result));
  };
}

const permuteModes: readonly PermuteMode[] = ['f4e', 'b4e', 'rc8', 'ecl', 'ecr', 'rc16'];

function dotKinds(shape: OperationShape): { aSigned: boolean; bSigned: boolean } {
  return { aSigned: shape.types[0] === 's32', bSigned: shape.types[1] === 's32' };
}

export const bitOperations = {
  and: logic(
    (a, b) => a & b,
    (a, b) => a & b,
  ),
  or: logic(
    (a, b) => a | b,
    (a, b) => a | b,
  ),
  xor: logic(
    (a, b) => a ^ b,
    (a, b) => a ^ b,
  ),
  not: ({ bits }) => ({
    apply: bits === 64 ? big((a = 0n) => ~a) : numeric((a = 0) => (bits === 1 ? 1 - a : ~a)),
  }),
  cnot: ({ bits }) => ({
    apply: bits === 64 ? big((a = 0n) => (a === 0n ? 1n : 0n)) : numeric((a = 0) => (a === 0 ? 1 : 0)),
  }),
  lop3: ({ has }) => ({
    sources: ['b32', 'b32', 'b32', 'b32', 'pred'],
    result: 'b32',
    apply: numeric((a = 0, b = 0, c = 0, table = 0) => logic3(a, b, c, table)),
    // Of `lop3.and` and `lop3.or`: whether any bit is set, joined with a predicate.
    second: numeric((a = 0, b = 0, c = 0, table = 0, p = 0) => {
      const any = logic3(a, b, c, table) === 0 ? 0 : 1;
      return has('and') ? any & p : any | p;
    }),
  }),
  shl: ({ bits }) => ({
    apply:
      bits === 64
        ? (a = 0n, count = 0) => shiftLeft64(BigInt(a), Number(count))
        : numeric((a = 0, count = 0) => shiftLeft(a, count, bits === 16 ? 16 : 32)),
  }),
  shr: ({ bits, isSigned }) => ({
    apply:
      bits === 64
        ? (a = 0n, count = 0) => shiftRight64(BigInt(a), Number(count))
        : numeric((a = 0, count = 0) =>
            (isSigned ? shiftRightSigned : shiftRight)(a, count, bits === 16 ? 16 : 32),
          ),
  }),
  shf: ({ has }) => ({
    apply: numeric((low = 0, high = 0, count = 0) =>
      (has('l') ? funnelLeft : funnelRight)(low, high, count, has('clamp')),
    ),
  }),
  bfe: (shape) => ({
    apply: (a = 0, position = 0, length = 0) => {
      const field = extractField(BigInt(a), Number(position), Number(length), width(shape), shape.isSigned);
      return shape.bits === 64 ? field : Number(BigInt.asIntN(32, field));
    },
  }),
  bfi: (shape) => ({
    apply: overBig(
      (a, b, position, length) => insertField(a, b, position, length, width(shape)),
      shape.bits === 64,
    ),
  }),
  bfind: (shape) => ({
    apply: (a = 0) => {
      const at = findLeadingBit(BigInt(a), width(shape), shape.isSigned);
      return at < 0 || !shape.has('shiftamt') ? at : width(shape) - 1 - at;
    },
  }),
  popc: ({ bits }) => ({
    apply: (a = 0) =>
      bits === 64
        ? populationCount(lowWord(BigInt(a))) + populationCount(highWord(BigInt(a)))
        : populationCount(Number(a)),
  }),
  clz: (shape) => ({
    apply: (a = 0) => width(shape) - 1 - findLeadingBit(BigInt(a), width(shape), false),
  }),
  brev: ({ bits }) => ({
    apply: (a = 0) =>
      bits === 64
        ? joinWords(reverseBits(highWord(BigInt(a))), reverseBits(lowWord(BigInt(a))))
        : reverseBits(Number(a)),
  }),
  bmsk: ({ has }) => ({
    apply: numeric((position = 0, count = 0) => bitMask(position, count, has('clamp'))),
  }),
  szext: ({ has, isSigned }) => ({
    apply: numeric((a = 0, count = 0) => extend(a, count, has('clamp'), isSigned)),
  }),
  fns: () => ({ apply: numeric((mask = 0, base = 0, offset = 0) => findNthSet(mask, base, offset)) }),
  prmt: ({ has }) => {
    const mode = permuteModes.find((each) => has(each));
    return { apply: numeric((a = 0, b = 0, selector = 0) => permuteBytes(a, b, selector, mode)) };
  },
  dp4a: (shape) => {
    const { aSigned, bSigned } = dotKinds(shape);
    return { apply: numeric((a = 0, b = 0, c = 0) => dotBytes(a, b, c, aSigned, bSigned)) };
  },
  dp2a: (shape) => {
    const { aSigned, bSigned } = dotKinds(shape);
    return { apply: numeric((a = 0, b = 0, c = 0) => dotHalves(a, b, c, aSigned, bSigned, shape.has('hi'))) };
  },
  selp: (shape) => {
    const kind = `b${shape.bits}` as ScalarType;
    return { apply: (a = 0, b = 0, p = 0) => (p === 0 ? b : a), sources: [kind, kind, 'pred'], result: kind };
  },
  copysign: ({ bits }) =>
    bits === 64
      ? {
          apply: big((a = 0n, b = 0n) => (b & ~(1n << 63n)) | (a & (1n << 63n))),
          sources: ['b64', 'b64'],
          result: 'b64',
        }
      : {
          apply: numeric((a = 0, b = 0) => (b & 0x7fffffff) | (a & 0x80000000)),
          sources: ['b32', 'b32'],
          result: 'b32',
        },
} satisfies Readonly<Record<string, OperationMaker>>;
