import type { IrInstruction, ScalarType } from '../../../ptx/index.js';
import type { FunctionBuilder } from '../../../wasm/index.js';
import { CANONICAL_NAN_16, type HalfType, type Library, type LibraryFunction } from '../library/index.js';
import { lastType } from '../instructions/index.js';
import type { InstructionEmitter } from './integerEmitter.js';
import type { OperandEmitter } from './operandEmitter.js';
import { directedMode } from './floatEmitter.js';

/**
 * Instructions on f16 and bf16, of which registers hold bits, one or two to a register. They are written on four lanes at
 * once; scalar code uses one of them.
 */

/** What writes halves: lanes of bits in, lanes of bits out. */
export interface HalfSurroundings {
  readonly f: FunctionBuilder;
  readonly library: Library;
  /** A v128 local for use within one instruction. */
  readonly temporary: (name: string) => number;
}

/** Writes the bits of results, one half a lane, from operands in locals that hold one half a lane. */
type HalfWriter = (around: HalfSurroundings, operands: readonly number[]) => void;

export interface HalfForm {
  readonly type: HalfType;
  readonly isPacked: boolean;
  readonly write: HalfWriter;
}

const INFINITIES: Readonly<Record<HalfType, number>> = { f16: 0x7c00, bf16: 0x7f80 };
const ONES: Readonly<Record<HalfType, number>> = { f16: 0x3c00, bf16: 0x3f80 };
const SUFFIXES = { f16: 'F16', bf16: 'Bf16' } as const;

function word(f: FunctionBuilder, bits: number): FunctionBuilder {
  return f.v128(bits, bits, bits, bits);
}

/** Makes bits of halves on the stack f32. */
export function widen({ f, library }: HalfSurroundings, type: HalfType): void {
  if (type === 'bf16') f.i32(16).simd('i32x4Shl');
  else f.call(library.index('widenHalves'));
}

/** Pushes a mask of the NaNs among bits in a local. */
function pushNans(f: FunctionBuilder, bits: number, type: HalfType): FunctionBuilder {
  word(f.get(bits), 0x7fff).simd('v128And');
  return word(f, INFINITIES[type]).simd('i32x4GtS');
}

/** Clamps bits on the stack as `.relu` and `.sat` say; a NaN among them is the canonical one. */
function finish(around: HalfSurroundings, { modifiers }: IrInstruction, type: HalfType): void {
  const { f } = around;
  const clamps = modifiers.includes('sat');
  if (!clamps && !modifiers.includes('relu')) return;
  const bits = around.temporary('half result');
  f.tee(bits).get(bits).i32(16).simd('i32x4Shl').i32(31).simd('i32x4ShrS').simd('v128AndNot');
  if (!clamps) return;
  f.tee(bits);
  word(f, ONES[type]).simd('i32x4MinS');
  pushNans(f, bits, type).simd('v128AndNot');
}

function arithmetic(
  opcode: 'add' | 'sub' | 'mul' | 'fma',
  instruction: IrInstruction,
  type: HalfType,
): HalfWriter {
  const name: LibraryFunction = `${opcode}${SUFFIXES[type]}`;
  return (around, operands) => {
    for (const operand of operands) {
      around.f.get(operand);
      widen(around, type);
    }
    around.f.call(around.library.index(name));
    finish(around, instruction, type);
  };
}

function sign(opcode: 'neg' | 'abs', type: HalfType): HalfWriter {
  return ({ f }, [a = 0]) => {
    word(f, CANONICAL_NAN_16);
    if (opcode === 'neg') word(f.get(a), 0x8000).simd('v128Xor');
    else word(f.get(a), 0x7fff).simd('v128And');
    pushNans(f, a, type).simd('v128Bitselect');
  };
}

/** Makes bits on the stack integers in the order of the numbers, or such integers bits; −0 is below +0. */
function order({ f, temporary }: HalfSurroundings): void {
  const bits = temporary('ordered');
  f.i32(16).simd('i32x4Shl').i32(16).simd('i32x4ShrS').tee(bits);
  word(f.get(bits).i32(31).simd('i32x4ShrS'), 0x7fff).simd('v128And').simd('v128Xor');
}

/** A number wins over NaN unless `.NaN`. */
function extreme(opcode: 'min' | 'max', instruction: IrInstruction, type: HalfType): HalfWriter {
  return (around, [a = 0, b = 0]) => {
    const { f } = around;
    const result = around.temporary('half extreme');
    for (const operand of [a, b]) {
      f.get(operand);
      order(around);
    }
    f.simd(opcode === 'min' ? 'i32x4MinS' : 'i32x4MaxS');
    order(around);
    word(f, 0xffff).simd('v128And').set(result);
    if (!instruction.modifiers.includes('NaN')) {
      f.get(a).get(result);
      pushNans(f, b, type).simd('v128Bitselect').set(result);
      f.get(b).get(result);
      pushNans(f, a, type).simd('v128Bitselect').set(result);
    }
    word(f, CANONICAL_NAN_16).get(result);
    pushNans(f, a, type);
    pushNans(f, b, type).simd(instruction.modifiers.includes('NaN') ? 'v128Or' : 'v128And');
    f.simd('v128Bitselect');
    finish(around, instruction, type);
  };
}

/** Of a type of halves, the format of one. */
export const halfTypes: Readonly<Partial<Record<ScalarType, HalfType>>> = {
  f16: 'f16',
  f16x2: 'f16',
  bf16: 'bf16',
  bf16x2: 'bf16',
};

/** The arithmetic of halves that is written here; other forms call the definitions. */
export function halfForm(instruction: IrInstruction): HalfForm | undefined {
  const { opcode, modifiers } = instruction;
  const last = lastType(instruction);
  const type = halfTypes[last];
  if (type === undefined || modifiers.includes('ftz') || directedMode(instruction) !== undefined)
    return undefined;
  const make = (write: HalfWriter): HalfForm => ({ type, isPacked: last.endsWith('x2'), write });
  switch (opcode) {
    case 'add':
    case 'sub':
    case 'mul':
    case 'fma':
      return make(arithmetic(opcode, instruction, type));
    case 'neg':
    case 'abs':
      return make(sign(opcode, type));
    case 'min':
    case 'max':
      return modifiers.includes('xorsign') ? undefined : make(extreme(opcode, instruction, type));
    default:
      return undefined;
  }
}

/** Leaves the results of a form, one register a lane, of operands in locals: both halves of packed ones. */
export function writeHalves(around: HalfSurroundings, form: HalfForm, operands: readonly number[]): void {
  const { f } = around;
  if (!form.isPacked) {
    form.write(around, operands);
    return;
  }
  const parts = operands.map((_, index) => around.temporary(`half ${index}`));
  parts.forEach((part, index) =>
    word(f.get(operands[index] ?? 0), 0xffff)
      .simd('v128And')
      .set(part),
  );
  form.write(around, parts);
  parts.forEach((part, index) =>
    f
      .get(operands[index] ?? 0)
      .i32(16)
      .simd('i32x4ShrU')
      .set(part),
  );
  form.write(around, parts);
  f.i32(16).simd('i32x4Shl').simd('v128Or');
}

/** The format that a `cvt` of f32 rounds to, to nearest, and whether two of them fill a register. */
export function roundedHalf(instruction: IrInstruction): HalfForm | undefined {
  const to = instruction.types[0] ?? 'b32';
  const type = halfTypes[to];
  const isPlain = !['ftz', 'sat', 'satfinite', 'relu', 'rna', 'rni', 'rzi', 'rmi', 'rpi'].some((each) =>
    instruction.modifiers.includes(each),
  );
  if (type === undefined || lastType(instruction) !== 'f32' || !isPlain) return undefined;
  if (directedMode(instruction) !== undefined) return undefined;
  const round = (around: HalfSurroundings, operand: number): void => {
    around.f.get(operand).call(around.library.index(`round${SUFFIXES[type]}`));
  };
  if (!to.endsWith('x2'))
    return {
      type,
      isPacked: false,
      write: (around, [a = 0]) => {
        round(around, a);
      },
    };
  return {
    type,
    isPacked: true,
    // The first operand becomes the upper half.
    write: (around, [a = 0, b = 0]) => {
      round(around, a);
      around.f.i32(16).simd('i32x4Shl');
      round(around, b);
      around.f.simd('v128Or');
    },
  };
}

/** The scalar form: one lane of four. */
export function halfEmitter(instruction: IrInstruction): InstructionEmitter | undefined {
  if (instruction.opcode === 'cvt') {
    const form = roundedHalf(instruction);
    if (form === undefined) return undefined;
    return scalar('f32', form.isPacked ? 'b32' : 'b16', form.write);
  }
  const form = halfForm(instruction);
  if (form === undefined) return undefined;
  const bits = form.isPacked ? 'b32' : 'b16';
  return scalar(bits, bits, (around, operands) => {
    writeHalves(around, form, operands);
  });
}

/** Leaves the result of two registers' bits in i32 locals, where the form is one that is written here. */
export function combineHalves(
  emit: OperandEmitter,
  instruction: IrInstruction,
  operands: readonly number[],
): boolean {
  const { f, library } = emit;
  const form = halfForm(instruction);
  if (form === undefined) return false;
  const lanes = operands.map((local, index) => {
    const lane = emit.temporary(`half operand ${index}`, 'v128');
    f.get(local).simd('i32x4Splat').set(lane);
    return lane;
  });
  writeHalves({ f, library, temporary: (name) => emit.temporary(name, 'v128') }, form, lanes);
  f.simdLane('i32x4ExtractLane', 0);
  return true;
}

function scalar(from: ScalarType, to: ScalarType, write: HalfWriter): InstructionEmitter {
  return (emit, instruction) => {
    const { f, library } = emit;
    const operands = instruction.sources.map((source, index) => {
      const local = emit.temporary(`half operand ${index}`, 'v128');
      emit.use(source, from);
      f.simd(from === 'f32' ? 'f32x4Splat' : 'i32x4Splat').set(local);
      return local;
    });
    write({ f, library, temporary: (name) => emit.temporary(name, 'v128') }, operands);
    f.simdLane('i32x4ExtractLane', 0);
    emit.assign(instruction.destinations[0], to);
  };
}
