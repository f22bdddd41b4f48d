import type { IrInstruction, IrOperand } from '../../../../ptx/index.js';
import { lastType } from '../../instructions/index.js';
import type { VectorOperands } from '../operands/index.js';
import { keep, pushSingle, pushWord } from './parts.js';

export const LEAST_NORMAL = 2 ** -126;

export function isSingle(instruction: IrInstruction): boolean {
  return lastType(instruction) === 'f32';
}

export function flushes(instruction: IrInstruction): boolean {
  return isSingle(instruction) && instruction.modifiers.includes('ftz');
}

/** Makes zeros of their sign of subnormal f32 on the stack. */
export function flush(v: VectorOperands): void {
  const { f } = v;
  const value = v.temporary('flushed', 'v128');
  f.tee(value).get(value).simd('f32x4Abs');
  pushSingle(v, LEAST_NORMAL);
  f.simd('f32x4Lt');
  pushWord(v, 0x7fffffff);
  f.simd('v128And').simd('v128AndNot');
}

/** Pushes a source in the type of the instruction, flushed when it says `.ftz`. */
export function useFloat(
  v: VectorOperands,
  instruction: IrInstruction,
  operand: IrOperand | undefined,
  group: number,
  half: 0 | 1 = 0,
): void {
  v.use(operand, lastType(instruction), group, half);
  if (flushes(instruction)) flush(v);
}

/** Clamps f32 on the stack to [0, 1]; NaN and −0 become 0. */
export function saturate(v: VectorOperands): void {
  pushSingle(v, 1);
  v.f.simd('f32x4Pmin');
  const value = keep(v, 'clamped');
  v.f.v128(0, 0, 0, 0).get(value).simd('f32x4Pmax');
}

/** Takes f32 results, flushed and clamped as the instruction says. */
export function finishSingle(
  v: VectorOperands,
  instruction: IrInstruction,
  group: number,
  isFlushed = false,
): void {
  if (flushes(instruction) && !isFlushed) flush(v);
  if (instruction.modifiers.includes('sat')) saturate(v);
  v.assignArithmetic(instruction.destinations[0], 'f32', group);
}
