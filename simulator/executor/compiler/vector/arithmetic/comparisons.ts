import { isSignedType, type IrInstruction, type ScalarType } from '../../../../ptx/index.js';
import { lastType } from '../../integerEmitter.js';
import type { VectorEmitter, VectorOperands } from '../vectorOperands.js';
import { useFloat } from './floatOperands.js';
import { flipSign } from './integers.js';
import { eachPart, isWide, joinWords, keep, pushSingle, useMask } from './parts.js';

const comparisons = new Set('eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan'.split(' '));

function comparisonOf(instruction: IrInstruction): string {
  return instruction.modifiers.find((modifier) => comparisons.has(modifier)) ?? 'eq';
}

const integerNames: Readonly<Record<string, 'Eq' | 'Ne' | 'Lt' | 'Le' | 'Gt' | 'Ge'>> = {
  eq: 'Eq',
  ne: 'Ne',
  lt: 'Lt',
  le: 'Le',
  gt: 'Gt',
  ge: 'Ge',
  lo: 'Lt',
  ls: 'Le',
  hi: 'Gt',
  hs: 'Ge',
};

/** Leaves a mask of a part's lanes. */
function compareIntegers(
  v: VectorOperands,
  instruction: IrInstruction,
  type: ScalarType,
  group: number,
  half: 0 | 1,
): void {
  const { f } = v;
  const how = comparisonOf(instruction);
  const name = integerNames[how] ?? 'Eq';
  const isEquality = name === 'Eq' || name === 'Ne';
  const isUnsigned = /^[lh][os]$|^ls$|^hi$/.test(how) || !isSignedType(type);
  for (const source of instruction.sources.slice(0, 2)) {
    v.use(source, type, group, half);
    if (isWide(type) && isUnsigned && !isEquality) flipSign(v);
  }
  if (isEquality) f.simd(isWide(type) ? `i64x2${name}` : `i32x4${name}`);
  else if (isWide(type)) f.simd(`i64x2${name}S`);
  else f.simd(`i32x4${name}${isUnsigned ? 'U' : 'S'}`);
}

const floatNames: Readonly<Record<string, 'Eq' | 'Lt' | 'Le' | 'Gt' | 'Ge'>> = {
  eq: 'Eq',
  lt: 'Lt',
  le: 'Le',
  gt: 'Gt',
  ge: 'Ge',
};

/** u-forms are true with a NaN: each is the opposite of a plain one that is false with it. */
const opposites: Readonly<Record<string, 'Lt' | 'Le' | 'Gt' | 'Ge'>> = {
  ltu: 'Ge',
  leu: 'Gt',
  gtu: 'Le',
  geu: 'Lt',
};

function compareFloats(
  v: VectorOperands,
  instruction: IrInstruction,
  type: 'f32' | 'f64',
  group: number,
  half: 0 | 1,
): void {
  for (const source of instruction.sources.slice(0, 2)) useFloat(v, instruction, source, group, half);
  compareOnStack(v, instruction, type === 'f32' ? 'f32x4' : 'f64x2');
}

/** Takes two f32x4, compared as the instruction says. */
export function compareSingles(v: VectorOperands, instruction: IrInstruction): void {
  compareOnStack(v, instruction, 'f32x4');
}

function compareOnStack(v: VectorOperands, instruction: IrInstruction, lanes: 'f32x4' | 'f64x2'): void {
  const { f } = v;
  const how = comparisonOf(instruction);
  const plain = floatNames[how];
  const opposite = opposites[how];
  if (plain !== undefined || opposite !== undefined || how === 'neu') {
    f.simd(`${lanes}${plain ?? opposite ?? 'Ne'}`);
    if (opposite !== undefined) f.simd('v128Not');
    return;
  }
  const b = keep(v, 'b');
  const a = keep(v, 'a');
  if (how === 'num' || how === 'nan')
    f.get(a).get(a).simd(`${lanes}Eq`).get(b).get(b).simd(`${lanes}Eq`).simd('v128And');
  // ne is false with a NaN and equ is its opposite.
  else f.get(a).get(b).simd(`${lanes}Lt`).get(a).get(b).simd(`${lanes}Gt`).simd('v128Or');
  if (how === 'nan' || how === 'equ') f.simd('v128Not');
}

/** Leaves the mask of a group where the first two sources compare as the instruction says. */
function compare(v: VectorOperands, instruction: IrInstruction, group: number): void {
  const type = lastType(instruction);
  const part = (half: 0 | 1): void => {
    if (type === 'f32' || type === 'f64') compareFloats(v, instruction, type, group, half);
    else compareIntegers(v, instruction, type, group, half);
  };
  part(0);
  if (!isWide(type)) return;
  part(1);
  joinWords(v, 'lower');
}

/** Joins the comparison on the stack with the predicate operand. */
export function join(v: VectorOperands, instruction: IrInstruction, group: number): void {
  const names = { and: 'v128And', or: 'v128Or', xor: 'v128Xor' } as const;
  for (const name of ['and', 'or', 'xor'] as const) {
    if (!instruction.modifiers.includes(name)) continue;
    v.use(instruction.sources[2], 'pred', group);
    v.f.simd(names[name]);
  }
}

const setPredicate: VectorEmitter = (v, instruction) => {
  const { f } = v;
  const destination = instruction.destinations[0];
  for (let group = 0; group < v.groups; group++) {
    compare(v, instruction, group);
    if (destination?.kind !== 'pair') {
      join(v, instruction, group);
      v.assign(destination, 'pred', group);
      continue;
    }
    // The third source may be a destination: both results are computed before either is written.
    const holds = v.temporary('holds', 'v128');
    f.tee(holds);
    join(v, instruction, group);
    f.get(holds).simd('v128Not');
    join(v, instruction, group);
    v.assign(destination.second, 'pred', group);
    v.assign(destination.first, 'pred', group);
  }
};

const set: VectorEmitter = (v, instruction) => {
  const type = instruction.types[0] ?? 'u32';
  for (let group = 0; group < v.groups; group++) {
    compare(v, instruction, group);
    join(v, instruction, group);
    if (type === 'f32') {
      pushSingle(v, 1);
      v.f.simd('v128And');
    }
    v.assign(instruction.destinations[0], type, group);
  }
};

/** Bits are moved as they are; between float registers of the same kind that needs no look at a NaN. */
function needsBits(v: VectorOperands, { destinations: [destination] }: IrInstruction): boolean {
  return destination?.kind !== 'register' || !v.isLoose(destination.register);
}

const select: VectorEmitter = (v, instruction) => {
  const type = lastType(instruction);
  const bits = needsBits(v, instruction);
  const [a, b, predicate] = instruction.sources;
  eachPart(v, type, (group, half) => {
    v.use(a, type, group, half, bits);
    v.use(b, type, group, half, bits);
    useMask(v, predicate, type, group, half);
    v.f.simd('v128Bitselect');
    v.assign(instruction.destinations[0], type, group, half);
  });
};

const selectBySign: VectorEmitter = (v, instruction) => {
  const { f } = v;
  const type = instruction.types[0] ?? 'b32';
  const bits = needsBits(v, instruction);
  const [a, b, sign] = instruction.sources;
  eachPart(v, type, (group, half) => {
    v.use(a, type, group, half, bits);
    v.use(b, type, group, half, bits);
    useFloat(v, instruction, sign, group);
    f.v128(0, 0, 0, 0).simd(lastType(instruction) === 'f32' ? 'f32x4Ge' : 'i32x4GeS');
    if (isWide(type)) f.simd(half === 0 ? 'i64x2ExtendLowI32x4S' : 'i64x2ExtendHighI32x4S');
    f.simd('v128Bitselect');
    v.assign(instruction.destinations[0], type, group, half);
  });
};

const move: VectorEmitter = (v, instruction) => {
  const type = lastType(instruction);
  const bits = needsBits(v, instruction);
  eachPart(v, type, (group, half) => {
    v.use(instruction.sources[0], type, group, half, bits);
    v.assign(instruction.destinations[0], type, group, half);
  });
};

export function comparisonVector(instruction: IrInstruction): VectorEmitter | undefined {
  if (instruction.types.some((type) => /^b?f16|x2$/.test(type))) return undefined;
  switch (instruction.opcode) {
    case 'setp':
      return setPredicate;
    case 'set':
      return set;
    case 'selp':
      return select;
    case 'slct':
      return selectBySign;
    case 'mov':
      return move;
    default:
      return undefined;
  }
}
