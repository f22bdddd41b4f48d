import { typeBits, type IrInstruction, type IrOperand, type ScalarType } from '../../../../ptx/index.js';
import type { SimdName } from '../../../../wasm/index.js';
import type { VectorEmitter, VectorOperands } from '../operands/index.js';

/** Vectors that the lanes of a group take in a type. */
export type Half = 0 | 1;

export function isWide(type: ScalarType): boolean {
  return typeBits(type) === 64;
}

/** Shape of an integer type's lanes; small integers lie in 32 bits. */
export function lanesOf(type: ScalarType): 'i32x4' | 'i64x2' {
  return isWide(type) ? 'i64x2' : 'i32x4';
}

/** Writes something for each vector that a type's lanes take. */
export function eachPart(
  v: VectorOperands,
  type: ScalarType,
  write: (group: number, half: Half) => void,
): void {
  for (let group = 0; group < v.groups; group++) {
    write(group, 0);
    if (isWide(type)) write(group, 1);
  }
}

/** An operation on sources of one type with a result of the same: `write` finds the sources on the stack. */
export function elementwise(
  v: VectorOperands,
  instruction: IrInstruction,
  type: ScalarType,
  write: () => void,
): void {
  eachPart(v, type, (group, half) => {
    for (const source of instruction.sources) v.use(source, type, group, half);
    write();
    v.assign(instruction.destinations[0], type, group, half);
  });
}

/** Takes the vector on the stack into a temporary, whose local is returned. */
export function keep(v: VectorOperands, name: string): number {
  const local = v.temporary(name, 'v128');
  v.f.set(local);
  return local;
}

/** The v128 operation of a name in the lanes of a type: `of('i32x4', 'Add')`. */
export function simdName(lanes: string, name: string): SimdName {
  return `${lanes}${name}` as SimdName;
}

/** Pushes 32 bits in each lane. */
export function pushWord(v: VectorOperands, bits: number): void {
  v.f.v128(bits, bits, bits, bits);
}

/** Pushes 64 bits in both lanes. */
export function pushLong(v: VectorOperands, low: number, high: number): void {
  v.f.v128(low, high, low, high);
}

const bitsOfDouble = new Float64Array(1);
const words = new Uint32Array(bitsOfDouble.buffer);

export function pushDouble(v: VectorOperands, value: number): void {
  bitsOfDouble[0] = value;
  pushLong(v, words[0] ?? 0, words[1] ?? 0);
}

export function pushSingle(v: VectorOperands, value: number): void {
  const bits = new Uint32Array(new Float32Array([value]).buffer)[0] ?? 0;
  pushWord(v, bits);
}

/** Brings words 2 and 3 of the vector on the stack to where 0 and 1 are, when the upper half is asked for. */
export function takeHalf(v: VectorOperands, half: Half): void {
  if (half === 1) {
    const whole = v.temporary('whole', 'v128');
    v.f.tee(whole).get(whole).shuffleWords(2, 3, 2, 3);
  }
}

/** Of two vectors of 64-bit lanes on the stack, a vector of their lower or upper words. */
export function joinWords(v: VectorOperands, which: 'lower' | 'upper'): void {
  if (which === 'lower') v.f.shuffleWords(0, 2, 4, 6);
  else v.f.shuffleWords(1, 3, 5, 7);
}

/** Of two vectors whose results are in words 0 and 1, one vector. */
export function joinHalves(v: VectorOperands): void {
  v.f.shuffleWords(0, 1, 4, 5);
}

/** Pushes a predicate as a mask of a type's lanes. */
export function useMask(
  v: VectorOperands,
  operand: IrOperand | undefined,
  type: ScalarType,
  group: number,
  half: Half,
): void {
  v.use(operand, 'pred', group);
  if (isWide(type)) v.f.simd(half === 0 ? 'i64x2ExtendLowI32x4S' : 'i64x2ExtendHighI32x4S');
}

export type { VectorEmitter };
