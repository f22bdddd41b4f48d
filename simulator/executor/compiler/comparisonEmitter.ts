import { isSignedType, typeBits, type IrInstruction, type ScalarType } from '../../ptx/index.js';
import type { OpName } from '../wasm/index.js';
import { useFloat } from './floatEmitter.js';
import { lastType, type InstructionEmitter } from './integerEmitter.js';
import type { OperandEmitter } from './operandEmitter.js';

const comparisons = new Set('eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan'.split(' '));

const integerNames: Readonly<Record<string, string>> = {
  eq: 'Eq',
  ne: 'Ne',
  lt: 'Lt',
  le: 'Le',
  gt: 'Gt',
  ge: 'Ge',
  lo: 'LtU',
  ls: 'LeU',
  hi: 'GtU',
  hs: 'GeU',
};

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

function comparisonOf(instruction: IrInstruction): string {
  return instruction.modifiers.find((modifier) => comparisons.has(modifier)) ?? 'eq';
}

/** Leaves 1 when the first two sources compare as the instruction says. */
function compare(emit: OperandEmitter, instruction: IrInstruction): void {
  const type = lastType(instruction);
  if (type === 'f32' || type === 'f64') compareFloats(emit, instruction, type);
  else compareIntegers(emit, instruction, type);
}

function compareIntegers(emit: OperandEmitter, instruction: IrInstruction, type: ScalarType): void {
  const how = comparisonOf(instruction);
  const name = integerNames[how] ?? 'Eq';
  const width = typeBits(type) === 64 ? 'i64' : 'i32';
  emit.use(instruction.sources[0], type);
  emit.use(instruction.sources[1], type);
  const ordered = how === 'lt' || how === 'le' || how === 'gt' || how === 'ge';
  emit.f.op(`${width}${name}${ordered ? (isSignedType(type) ? 'S' : 'U') : ''}` as OpName);
}

function compareFloats(emit: OperandEmitter, instruction: IrInstruction, type: 'f32' | 'f64'): void {
  const f = emit.f;
  const how = comparisonOf(instruction);
  const [first, second] = instruction.sources;
  const plain = floatNames[how];
  const opposite = opposites[how];
  if (plain !== undefined || opposite !== undefined || how === 'neu') {
    useFloat(emit, instruction, first);
    useFloat(emit, instruction, second);
    f.op(`${type}${plain ?? opposite ?? 'Ne'}`);
    if (opposite !== undefined) f.op('i32Eqz');
    return;
  }
  const a = emit.temporary('a', type);
  const b = emit.temporary('b', type);
  useFloat(emit, instruction, first);
  f.set(a);
  useFloat(emit, instruction, second);
  f.set(b);
  if (how === 'num' || how === 'nan') {
    f.get(a).get(a).op(`${type}Eq`).get(b).get(b).op(`${type}Eq`).op('i32And');
  } else {
    // ne is false with a NaN and equ is its opposite.
    f.get(a).get(b).op(`${type}Lt`).get(a).get(b).op(`${type}Gt`).op('i32Or');
  }
  if (how === 'nan' || how === 'equ') f.op('i32Eqz');
}

/** Joins the comparison on the stack with the predicate operand. */
function join(emit: OperandEmitter, instruction: IrInstruction): void {
  const names = { and: 'i32And', or: 'i32Or', xor: 'i32Xor' } as const;
  for (const name of ['and', 'or', 'xor'] as const) {
    if (!instruction.modifiers.includes(name)) continue;
    emit.use(instruction.sources[2], 'pred');
    emit.f.op(names[name]);
  }
}

const setPredicate: InstructionEmitter = (emit, instruction) => {
  const f = emit.f;
  const destination = instruction.destinations[0];
  compare(emit, instruction);
  if (destination?.kind !== 'pair') {
    join(emit, instruction);
    emit.assign(destination, 'pred');
    return;
  }
  // The third source may be a destination: both results are computed before either is written.
  const holds = emit.temporary('holds', 'i32');
  f.tee(holds);
  join(emit, instruction);
  f.get(holds).op('i32Eqz');
  join(emit, instruction);
  emit.assign(destination.second, 'pred');
  emit.assign(destination.first, 'pred');
};

const set: InstructionEmitter = (emit, instruction) => {
  const f = emit.f;
  const type = instruction.types[0] ?? 'u32';
  compare(emit, instruction);
  join(emit, instruction);
  if (type === 'f32') f.op('f32ConvertI32U');
  else {
    const value = emit.temporary('holds', 'i32');
    f.set(value).i32(0).get(value).op('i32Sub');
  }
  emit.assign(instruction.destinations[0], type);
};

/** Bits are moved as they are; between float registers of the same kind that needs no look at a NaN. */
function needsBits(emit: OperandEmitter, instruction: IrInstruction): boolean {
  const destination = instruction.destinations[0];
  return destination?.kind !== 'register' || !emit.isLoose(destination.register);
}

const select: InstructionEmitter = (emit, instruction) => {
  const type = lastType(instruction);
  const bits = needsBits(emit, instruction);
  emit.use(instruction.sources[0], type, bits);
  emit.use(instruction.sources[1], type, bits);
  emit.use(instruction.sources[2], 'pred');
  emit.f.op('select');
  emit.assign(instruction.destinations[0], type);
};

const selectBySign: InstructionEmitter = (emit, instruction) => {
  const type = instruction.types[0] ?? 'b32';
  const bits = needsBits(emit, instruction);
  emit.use(instruction.sources[0], type, bits);
  emit.use(instruction.sources[1], type, bits);
  useFloat(emit, instruction, instruction.sources[2]);
  if (lastType(instruction) === 'f32') emit.f.f32(0).op('f32Ge');
  else emit.f.i32(0).op('i32GeS');
  emit.f.op('select');
  emit.assign(instruction.destinations[0], type);
};

const move: InstructionEmitter = (emit, instruction) => {
  const type = lastType(instruction);
  emit.use(instruction.sources[0], type, needsBits(emit, instruction));
  emit.assign(instruction.destinations[0], type);
};

export const comparisonEmitters: Readonly<Record<string, InstructionEmitter>> = {
  setp: setPredicate,
  set,
  selp: select,
  slct: selectBySign,
  mov: move,
};
