import type { ScalarType } from '../../ptx/index.js';
import { compare } from './comparison.js';
import type { Comparison } from './comparison.js';
import { flush32 } from './float.js';
import { halfFormatOf } from './half.js';
import type { OperationMaker, OperationShape, Value } from './operationTypes.js';

const comparisons: readonly Comparison[] = [
  'eq',
  'ne',
  'lt',
  'le',
  'gt',
  'ge',
  'lo',
  'ls',
  'hi',
  'hs',
  'equ',
  'neu',
  'ltu',
  'leu',
  'gtu',
  'geu',
  'num',
  'nan',
];

/** The comparison that an instruction names. */
export function comparisonOf(shape: OperationShape): Comparison {
  const how = comparisons.find((each) => shape.has(each));
  if (how === undefined) throw new RangeError(`${shape.opcode} without a comparison`);
  return how;
}

/** The comparison, then joined with the predicate operand when there is one. */
function tester(shape: OperationShape): (a: Value, b: Value, p: Value, inverted: boolean) => number {
  const how = comparisonOf(shape);
  const flushes = shape.has('ftz');
  const test = (a: Value, b: Value): boolean =>
    flushes ? compare(how, flush32(Number(a)), flush32(Number(b))) : compare(how, a, b);
  const joined = shape.has('and') ? 'and' : shape.has('or') ? 'or' : shape.has('xor') ? 'xor' : undefined;
  return (a, b, p, inverted) => {
    const holds = test(a, b) !== inverted ? 1 : 0;
    if (joined === undefined) return holds;
    const other = Number(p);
    return joined === 'and' ? holds & other : joined === 'or' ? holds | other : holds ^ other;
  };
}

/** Bits compare unsigned; 32 of them are read as int32 elsewhere, so that lt and the like need u32 here. */
function comparedKind(type: ScalarType): ScalarType {
  return type === 'b32' ? 'u32' : type;
}

export const comparisonOperations = {
  setp: (shape) => {
    const test = tester(shape);
    const kind = comparedKind(shape.type);
    return {
      apply: (a = 0, b = 0, p = 0) => test(a, b, p, false),
      second: (a = 0, b = 0, p = 0) => test(a, b, p, true),
      sources: [kind, kind, 'pred'],
    };
  },
  set: (shape) => {
    const test = tester(shape);
    const kind = comparedKind(shape.type);
    const to = shape.types[0] ?? 'u32';
    const isHalf = to === 'f16' || to === 'bf16';
    const whenTrue = isHalf ? halfFormatOf(to).one : to === 'f32' ? 1 : -1;
    return {
      apply: (a = 0, b = 0, p = 0) => (test(a, b, p, false) === 1 ? whenTrue : 0),
      sources: [kind, kind, 'pred'],
      result: isHalf ? 'b16' : to,
    };
  },
  slct: (shape) => {
    const moved = `b${shape.types[0]?.slice(1) ?? '32'}` as ScalarType;
    const flushes = shape.has('ftz');
    return {
      // A NaN selects b: the comparison with zero is ordered.
      apply: (a = 0, b = 0, c = 0) => ((flushes ? flush32(Number(c)) : c) >= 0 ? a : b),
      sources: [moved, moved, shape.type],
      result: moved,
    };
  },
  testp: (shape) => ({ apply: (a = 0) => (testProperty(Number(a), shape) ? 1 : 0) }),
} satisfies Readonly<Record<string, OperationMaker>>;

function testProperty(value: number, shape: OperationShape): boolean {
  const smallestNormal = shape.bits === 64 ? 2 ** -1022 : 2 ** -126;
  const magnitude = Math.abs(value);
  if (shape.has('finite')) return magnitude < Infinity;
  if (shape.has('infinite')) return magnitude === Infinity;
  if (shape.has('number')) return value === value;
  if (shape.has('notanumber')) return value !== value;
  // PTX counts both zeros as normal.
  if (shape.has('normal')) return value === 0 || (magnitude >= smallestNormal && magnitude < Infinity);
  return magnitude > 0 && magnitude < smallestNormal;
}
