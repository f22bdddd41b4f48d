import {
  type IrFunction,
  type IrInstruction,
  type IrOperand,
  isa,
  isFloatType,
  type ScalarType,
  typeBits,
  writtenRegisters,
} from '../../../ptx/index.js';
import type { ScalarWasmType } from '../../../wasm/index.js';

/** The WebAssembly type that holds a value of a PTX type; 8 and 16 bits and predicates travel as i32. */
export function wasmTypeOf(type: ScalarType): ScalarWasmType {
  if (type === 'f32') return 'f32';
  if (type === 'f64') return 'f64';
  return typeBits(type) === 64 ? 'i64' : 'i32';
}

/**
 * Which float registers hold exact bits. Doubles always do: their operations choose the NaN themselves. Operations of f32
 * give one NaN, WebAssembly's may give any: a register that only
 * arithmetic writes keeps whatever NaN came and is made canonical where its bits are looked at (stores, moves to
 * integers, shuffles). A register that something else may write too (a load, a move of bits) is `exact`: arithmetic
 * makes its result canonical before writing it. So inner loops pay nothing.
 */
export function findExactRegisters(fn: IrFunction): Uint8Array {
  const exact = Uint8Array.from(fn.registers, ({ type }) => (type === 'f64' ? 1 : 0));
  for (let changed = true; changed;) {
    changed = false;
    for (const instruction of fn.instructions) {
      if (!writesExactBits(instruction, fn, exact)) continue;
      for (const register of writtenRegisters(instruction)) {
        if (exact[register] === 1) continue;
        exact[register] = 1;
        changed = true;
      }
    }
  }
  return exact;
}

function writesExactBits(instruction: IrInstruction, fn: IrFunction, exact: Uint8Array): boolean {
  switch (isa(instruction.opcode).nanBits) {
    case 'kept':
      return true;
    case 'asConverted': {
      const [to, from] = [instruction.types[0], instruction.types.at(-1)];
      return to !== 'f32' || from === 'bf16' || from === 'f64' || from === 'f32';
    }
    case 'asSources':
      return instruction.sources.some((source) => holdsExactBits(source, fn, exact));
    case 'canonical':
      // The bits of any other type may stand for a NaN of any kind.
      return instruction.types[0] !== 'f32';
  }
}

function holdsExactBits(operand: IrOperand, fn: IrFunction, exact: Uint8Array): boolean {
  switch (operand.kind) {
    case 'register': {
      const type = fn.registers[operand.register]?.type ?? 'b32';
      if (type === 'pred') return false;
      return !isFloat(type) || exact[operand.register] === 1;
    }
    case 'vector':
      return true;
    case 'float':
      return isNanBits(operand.width, operand.low, operand.high);
    case 'negatedPredicate':
    case 'integer':
    case 'special':
    case 'address':
    case 'symbol':
    case 'pair':
    case 'sink':
    case 'label':
      return false;
  }
}

function isFloat(type: ScalarType): boolean {
  return isFloatType(type) && (type === 'f32' || type === 'f64');
}

/** Whether a float immediate is a NaN. */
export function isNanBits(width: 32 | 64, low: number, high: number): boolean {
  if (width === 32) return (low & 0x7fffffff) >>> 0 > 0x7f800000;
  const top = (high & 0x7fffffff) >>> 0;
  return top > 0x7ff00000 || (top === 0x7ff00000 && low !== 0);
}
