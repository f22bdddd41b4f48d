import { isSignedType, typeBits, type IrInstruction } from '../../../../ptx/index.js';
import { lastType, immediateOf } from '../../instructions/index.js';
import type { VectorEmitter, VectorOperands } from '../operands/index.js';
import { joinHalves, keep, pushDouble, pushLong, pushWord, takeHalf } from './parts.js';

/**
 * Division of 32-bit lanes in double precision: of such numbers a quotient that is no integer is further from the next
 * one than rounding reaches.
 */

/** Pushes the quotients of lanes in a local by a positive constant. */
function pushByConstant(v: VectorOperands, dividend: number, divisor: number, isSigned: boolean): void {
  const { f } = v;
  const sign = isSigned ? 'S' : 'U';
  const shift = Math.log2(divisor);
  if (Number.isInteger(shift)) {
    f.get(dividend);
    if (isSigned && shift > 0) {
      // Towards zero: what is negative is rounded up.
      f.get(dividend)
        .i32(31)
        .simd('i32x4ShrS')
        .i32(32 - shift)
        .simd('i32x4ShrU')
        .simd('i32x4Add');
    }
    if (shift > 0) f.i32(shift).simd(`i32x4Shr${sign}`);
    return;
  }
  for (const half of [0, 1] as const) {
    f.get(dividend);
    takeHalf(v, half);
    f.simd(`f64x2ConvertLowI32x4${sign}`);
    // Half a unit further from zero, so that the inexact product does not fall below a quotient that is whole.
    if (isSigned) {
      const value = v.temporary('value', 'v128');
      f.tee(value);
      pushDouble(v, 0.5);
      f.get(value);
      pushLong(v, 0, -0x80000000);
      f.simd('v128And').simd('v128Or');
    } else pushDouble(v, 0.5);
    f.simd('f64x2Add');
    pushDouble(v, 1 / divisor);
    f.simd('f64x2Mul').simd(`i32x4TruncSatF64x2${sign}Zero`);
  }
  joinHalves(v);
}

/** Pushes the quotients of lanes in locals; −1 for a divisor of zero. */
function pushQuotients(v: VectorOperands, dividend: number, divisor: number, isSigned: boolean): void {
  const { f } = v;
  const sign = isSigned ? 'S' : 'U';
  for (const half of [0, 1] as const) {
    for (const operand of [dividend, divisor]) {
      f.get(operand);
      takeHalf(v, half);
      f.simd(`f64x2ConvertLowI32x4${sign}`);
    }
    f.simd('f64x2Div').simd(`i32x4TruncSatF64x2${sign}Zero`);
  }
  joinHalves(v);
  if (isSigned) {
    // The least number by −1 wraps instead of being clamped.
    const quotients = keep(v, 'quotients');
    f.get(dividend).simd('i32x4Neg').get(quotients).get(divisor);
    pushWord(v, -1);
    f.simd('i32x4Eq').simd('v128Bitselect');
  }
  f.get(divisor).v128(0, 0, 0, 0).simd('i32x4Eq').simd('v128Or');
}

function division(what: 'div' | 'rem'): VectorEmitter {
  return (v, instruction) => {
    const { f } = v;
    const type = lastType(instruction);
    const isSigned = isSignedType(type);
    const constant = immediateOf(instruction.sources[1]);
    const isPlain = constant !== undefined && constant > 0 && constant < 2 ** (typeBits(type) - 1);
    for (let group = 0; group < v.groups; group++) {
      v.use(instruction.sources[0], type, group);
      const dividend = keep(v, 'a');
      let divisor = -1;
      if (isPlain) pushByConstant(v, dividend, constant, isSigned);
      else {
        v.use(instruction.sources[1], type, group);
        divisor = keep(v, 'b');
        pushQuotients(v, dividend, divisor, isSigned);
      }
      if (what === 'rem') {
        const quotients = keep(v, 'quotients');
        f.get(dividend).get(quotients);
        if (isPlain) pushWord(v, constant);
        else f.get(divisor);
        f.simd('i32x4Mul').simd('i32x4Sub');
        if (!isPlain) f.get(divisor).v128(0, 0, 0, 0).simd('i32x4Eq').simd('v128Or');
      }
      v.assign(instruction.destinations[0], type, group);
    }
  };
}

export function divisionVector(instruction: IrInstruction): VectorEmitter | undefined {
  const { opcode } = instruction;
  if (opcode !== 'div' && opcode !== 'rem') return undefined;
  return typeBits(lastType(instruction)) === 64 ? undefined : division(opcode);
}
