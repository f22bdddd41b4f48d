import { type IrInstruction, type ScalarType } from '../../../../ptx/index.js';
import { floatComparison, integerComparison, joinOf, needsBits, lastType } from '../../instructions/index.js';
import type { VectorEmitter, VectorOperands } from '../operands/index.js';
import { useFloat } from './floatOperands.js';
import { flipSign } from './integers.js';
import { eachPart, isWide, joinWords, keep, pushSingle, useMask } from './parts.js';

/** Leaves a mask of a part's lanes. */
function compareIntegers(
  v: VectorOperands,
  instruction: IrInstruction,
  type: ScalarType,
  group: number,
  half: 0 | 1,
): void {
  const { f } = v;
  const { test, sign } = integerComparison(instruction, type);
  for (const source of instruction.sources.slice(0, 2)) {
    v.use(source, type, group, half);
    if (isWide(type) && sign === 'U') flipSign(v);
  }
  if (sign === undefined) f.simd(isWide(type) ? `i64x2${test}` : `i32x4${test}`);
  // Of 64 bits there are signed tests alone.
  else f.simd(isWide(type) ? `i64x2${test}S` : `i32x4${test}${sign}`);
}

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
  const { test, isInverted } = floatComparison(instruction);
  if (test !== 'ordered' && test !== 'different') f.simd(`${lanes}${test}`);
  else {
    const b = keep(v, 'b');
    const a = keep(v, 'a');
    if (test === 'ordered')
      f.get(a).get(a).simd(`${lanes}Eq`).get(b).get(b).simd(`${lanes}Eq`).simd('v128And');
    else f.get(a).get(b).simd(`${lanes}Lt`).get(a).get(b).simd(`${lanes}Gt`).simd('v128Or');
  }
  if (isInverted) f.simd('v128Not');
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
  const how = joinOf(instruction);
  if (how === undefined) return;
  v.use(instruction.sources[2], 'pred', group);
  v.f.simd(`v128${how}`);
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
