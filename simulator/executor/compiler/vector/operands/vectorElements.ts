import { typeBits, type IrOperand, type ScalarType } from '../../../../ptx/index.js';
import type { VectorOperands } from './vectorOperands.js';

/** `mov.b64 %rd, {%r0, %r1}`: elements from low to high. */
export function packVector(
  v: VectorOperands,
  elements: readonly IrOperand[],
  type: ScalarType,
  group: number,
  half: 0 | 1,
): void {
  const { f } = v;
  const size = typeBits(type) / elements.length;
  const pack = (from: number, to: number): void => {
    const element: ScalarType = size === 32 ? 'b32' : size === 16 ? 'b16' : 'b8';
    for (let index = from; index < to; index++) {
      v.use(elements[index], element, group, 0, true);
      if (index > from)
        f.i32(size * (index - from))
          .simd('i32x4Shl')
          .simd('v128Or');
    }
  };
  if (typeBits(type) < 64) {
    pack(0, elements.length);
    return;
  }
  pack(0, elements.length / 2);
  pack(elements.length / 2, elements.length);
  if (half === 0) f.shuffleWords(0, 4, 1, 5);
  else f.shuffleWords(2, 6, 3, 7);
}

/** Takes such a value apart. */
export function unpackVector(
  v: VectorOperands,
  elements: readonly IrOperand[],
  type: ScalarType,
  group: number,
  half: 0 | 1,
): void {
  const { f } = v;
  const size = typeBits(type) / elements.length;
  const element: ScalarType = size === 32 ? 'b32' : size === 16 ? 'b16' : 'b8';
  const whole = v.temporary(`vector ${half}`, 'v128');
  f.set(whole);
  if (typeBits(type) === 64 && half === 0) return;
  elements.forEach((each, index) => {
    const at = size * index;
    if (typeBits(type) < 64) f.get(whole);
    else {
      f.get(v.temporary('vector 0', 'v128')).get(whole);
      if (at < 32) f.shuffleWords(0, 2, 4, 6);
      else f.shuffleWords(1, 3, 5, 7);
    }
    if (at % 32 !== 0) f.i32(at % 32).simd('i32x4ShrU');
    if (size < 32) v.keepLow(size);
    v.assign(each, element, group);
  });
}
