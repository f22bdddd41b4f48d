import {
  isFloatType,
  isSignedType,
  typeBits,
  type IrInstruction,
  type ScalarType,
} from '../../../ptx/index.js';
import { directedMode } from './floatEmitter.js';
import { lastType } from '../instructions/index.js';
import type { InstructionEmitter } from './integerEmitter.js';
import type { OperandEmitter } from './operandEmitter.js';

function has(instruction: IrInstruction, ...modifiers: string[]): boolean {
  return modifiers.some((modifier) => instruction.modifiers.includes(modifier));
}

function isWide(type: ScalarType): type is 'f32' | 'f64' {
  return type === 'f32' || type === 'f64';
}

/** Whether the compiler writes this conversion itself; others call the arithmetic definitions. */
export function convertsInline(instruction: IrInstruction): boolean {
  const to = instruction.types[0] ?? 'b32';
  const from = lastType(instruction);
  if (to === 'f16x2' || to === 'bf16x2' || to === 'f16' || to === 'bf16') return false;
  if (from === 'bf16') return to === 'f32' && !has(instruction, 'sat', 'ftz');
  if (from === 'f16') return to === 'f32' && !has(instruction, 'sat', 'ftz');
  const fromFloat = isWide(from);
  const toFloat = isWide(to);
  if (!fromFloat && isFloatType(from)) return false;
  if (!toFloat && (isFloatType(to) || /x2$/.test(to) || has(instruction, 'pack'))) return false;
  if (/x2$/.test(from)) return false;
  if (to === 'f64' && from === 'f64' && has(instruction, 'sat')) return false;
  if (fromFloat && toFloat && to !== from && has(instruction, 'ftz')) return false;
  if (!fromFloat && toFloat && has(instruction, 'sat')) return false;
  if (!fromFloat && !toFloat) return !has(instruction, 'sat');
  if (fromFloat && !toFloat) return typeBits(to) >= 32;
  return directedMode(instruction) === undefined;
}

/** Leaves the source, flushed under `.ftz`, and rounded to an integral value as `.rni .rzi .rmi .rpi` say. */
function roundedSource(emit: OperandEmitter, instruction: IrInstruction): void {
  const from = lastType(instruction) === 'f64' ? 'f64' : 'f32';
  emit.use(instruction.sources[0], from);
  if (from === 'f32' && has(instruction, 'ftz')) emit.f.call(emit.library.index('flush'));
  if (has(instruction, 'rni')) emit.f.op(`${from}Nearest`);
  else if (has(instruction, 'rzi')) emit.f.op(`${from}Trunc`);
  else if (has(instruction, 'rmi')) emit.f.op(`${from}Floor`);
  else if (has(instruction, 'rpi')) emit.f.op(`${from}Ceil`);
}

/** Clamps to the type; NaN becomes 0, or the least value where the hardware converts in 64 bits. */
function floatToInteger(emit: OperandEmitter, instruction: IrInstruction, to: ScalarType): void {
  const f = emit.f;
  const from = lastType(instruction) === 'f64' ? 'f64' : 'f32';
  const width = typeBits(to) === 64 ? 'i64' : 'i32';
  roundedSource(emit, instruction);
  const source = emit.temporary('source', from);
  const is64 = from === 'f64' || width === 'i64';
  if (is64) f.tee(source);
  const sign = isSignedType(to) ? 'S' : 'U';
  f.op(`${width}TruncSat${from === 'f64' ? 'F64' : 'F32'}${sign}`);
  if (is64) {
    if (width === 'i64') f.i64Halves(0, -0x80000000);
    else f.i32(-0x80000000);
    f.get(source).get(source).op(`${from}Eq`).op('select');
  }
}

export const convert: InstructionEmitter = (emit, instruction) => {
  const f = emit.f;
  const to = instruction.types[0] ?? 'b32';
  const from = lastType(instruction);
  const destination = instruction.destinations[0];
  if (from === 'bf16') {
    // The upper half of an f32: bits are moved.
    emit.use(instruction.sources[0], 'b16');
    f.i32(16).op('i32Shl').op('f32ReinterpretI32');
    emit.assign(destination, 'f32');
    return;
  }
  if (from === 'f16') {
    emit.use(instruction.sources[0], 'b16');
    f.call(emit.library.index('halfToFloat'));
    emit.assignArithmetic(destination, 'f32');
    return;
  }
  if (!isFloatType(from) && !isFloatType(to)) {
    emit.use(instruction.sources[0], from);
    // A value's own sign extends it; the target's type then says how far it is kept.
    if (typeBits(to) === 64 && typeBits(from) < 64)
      f.op(isSignedType(from) ? 'i64ExtendI32S' : 'i64ExtendI32U');
    else if (typeBits(to) < 64 && typeBits(from) === 64) f.op('i32WrapI64');
    emit.assign(destination, to);
    return;
  }
  if (!isFloatType(to)) {
    floatToInteger(emit, instruction, to);
    emit.assign(destination, to);
    return;
  }
  const target = to === 'f64' ? 'f64' : 'f32';
  if (!isFloatType(from)) {
    emit.use(instruction.sources[0], from);
    f.op(`${target}Convert${typeBits(from) === 64 ? 'I64' : 'I32'}${isSignedType(from) ? 'S' : 'U'}`);
  } else if (from !== to || from === 'f64') {
    convertDouble(emit, instruction);
    return;
  } else if (!has(instruction, 'rni', 'rzi', 'rmi', 'rpi', 'ftz', 'sat')) {
    // A plain cvt.f32.f32 moves bits.
    emit.use(instruction.sources[0], 'f32', true);
    emit.assign(destination, 'f32');
    return;
  } else {
    roundedSource(emit, instruction);
  }
  if (has(instruction, 'sat')) saturate(emit, target);
  if (target === 'f32' && has(instruction, 'ftz')) f.call(emit.library.index('flush'));
  emit.assignArithmetic(destination, target);
};

/** Among f64 and f32, and f64 to itself: a NaN keeps the payload that the target has room for. */
function convertDouble(emit: OperandEmitter, instruction: IrInstruction): void {
  const f = emit.f;
  const from = lastType(instruction) === 'f64' ? 'f64' : 'f32';
  const to = instruction.types[0] === 'f64' ? 'f64' : 'f32';
  const source = emit.temporary('source', from);
  // Of an f32 register that arithmetic wrote, the NaN that a card has there.
  emit.use(instruction.sources[0], from, true);
  f.tee(source).get(source).op(`${from}Ne`).if(to);
  if (has(instruction, 'sat')) {
    if (to === 'f64') f.f64(0);
    else f.f32(0);
  } else if (to === from) {
    const isMove = !has(instruction, 'rni', 'rzi', 'rmi', 'rpi');
    if (isMove) f.get(source);
    else f.get(source).get(source).call(emit.library.index('passNan'));
  } else if (to === 'f64') f.get(source).op('i32ReinterpretF32').call(emit.library.index('widenNan'));
  else f.get(source).op('i64ReinterpretF64').call(emit.library.index('narrowNan'));
  f.else().get(source);
  if (has(instruction, 'rni')) f.op(`${from}Nearest`);
  else if (has(instruction, 'rzi')) f.op(`${from}Trunc`);
  else if (has(instruction, 'rmi')) f.op(`${from}Floor`);
  else if (has(instruction, 'rpi')) f.op(`${from}Ceil`);
  if (from === 'f64' && to === 'f32') f.op('f32DemoteF64');
  if (from === 'f32' && to === 'f64') f.op('f64PromoteF32');
  if (has(instruction, 'sat')) saturate(emit, to);
  f.end();
  emit.assign(instruction.destinations[0], to);
}

function saturate(emit: OperandEmitter, target: 'f32' | 'f64'): void {
  if (target === 'f32') {
    emit.f.call(emit.library.index('saturate'));
    return;
  }
  const value = emit.temporary('clamped', 'f64');
  emit.f.tee(value).f64(1).op('f64Min').f64(0).get(value).f64(0).op('f64Gt').op('select');
}
