import { typeBits, type IrInstruction, type ScalarType } from '../../../ptx/index.js';
import { floatComparison, integerComparison, joinOf, needsBits, lastType } from '../instructions/index.js';
import { useFloat } from './floatEmitter.js';
import type { InstructionEmitter } from './integerEmitter.js';
import type { OperandEmitter } from './operandEmitter.js';

/** Leaves 1 when the first two sources compare as the instruction says. */
function compare(emit: OperandEmitter, instruction: IrInstruction): void {
  const type = lastType(instruction);
  if (type === 'f32' || type === 'f64') compareFloats(emit, instruction, type);
  else compareIntegers(emit, instruction, type);
}

function compareIntegers(emit: OperandEmitter, instruction: IrInstruction, type: ScalarType): void {
  const { test, sign } = integerComparison(instruction, type);
  const width = typeBits(type) === 64 ? 'i64' : 'i32';
  emit.use(instruction.sources[0], type);
  emit.use(instruction.sources[1], type);
  emit.f.op(sign === undefined ? `${width}${test}` : `${width}${test}${sign}`);
}

function compareFloats(emit: OperandEmitter, instruction: IrInstruction, type: 'f32' | 'f64'): void {
  const f = emit.f;
  const { test, isInverted } = floatComparison(instruction);
  const [first, second] = instruction.sources;
  if (test !== 'ordered' && test !== 'different') {
    useFloat(emit, instruction, first);
    useFloat(emit, instruction, second);
    f.op(`${type}${test}`);
  } else {
    const a = emit.temporary('a', type);
    const b = emit.temporary('b', type);
    useFloat(emit, instruction, first);
    f.set(a);
    useFloat(emit, instruction, second);
    f.set(b);
    if (test === 'ordered') f.get(a).get(a).op(`${type}Eq`).get(b).get(b).op(`${type}Eq`).op('i32And');
    else f.get(a).get(b).op(`${type}Lt`).get(a).get(b).op(`${type}Gt`).op('i32Or');
  }
  if (isInverted) f.op('i32Eqz');
}

/** Joins the comparison on the stack with the predicate operand. */
function join(emit: OperandEmitter, instruction: IrInstruction): void {
  const how = joinOf(instruction);
  if (how === undefined) return;
  emit.use(instruction.sources[2], 'pred');
  emit.f.op(`i32${how}`);
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
