import type { FunctionBuilder } from '../../../wasm/index.js';
import { splat32 } from './factorVectors.js';
import { vectorLocals } from './shuffles.js';

/** Rounds four f32 in a local to the nearest f16, ties to even, as f32; a nought keeps its sign. */
export class HalfRounder {
  private readonly magic: number;
  private readonly rounded: number;

  constructor(private readonly f: FunctionBuilder) {
    [this.magic = 0, this.rounded = 0] = vectorLocals(f, 2);
  }

  round(value: number): void {
    const { f, magic, rounded } = this;
    // One and a half of what makes the last place of a sum that of the f16.
    splat32(f.get(value), 0x7f800000).simd('v128And');
    splat32(f, (127 - 14) << 23).simd('i32x4MaxS');
    splat32(f, floatBits(1.5 * 2 ** 13))
      .simd('f32x4Mul')
      .tee(magic);
    f.get(value).simd('f32x4Add').get(magic).simd('f32x4Sub').set(rounded);
    // What is too large is an infinity, of which the sum above made no number.
    splat32(f, floatBits(Infinity)).get(rounded);
    splat32(f.get(value).simd('f32x4Abs'), floatBits(65520)).simd('f32x4Ge').simd('v128Bitselect');
    splat32(f, 0x7fffffff).simd('v128And');
    splat32(f.get(value), 0x80000000).simd('v128And').simd('v128Or').set(value);
  }
}

/** Pushes the bits of four f16, as i32, that f32 in a local are. */
export function pushHalfBits(
  f: FunctionBuilder,
  value: number,
  [magnitude = 0, top = 0]: readonly number[],
): void {
  f.get(value).simd('f32x4Abs').set(magnitude);
  // A normal one has the top of an f32's fraction, a subnormal one counts its last places.
  splat32(f.get(magnitude).i32(13).simd('i32x4ShrU'), 112 << 10)
    .simd('i32x4Sub')
    .set(top);
  splat32(f.get(top), 0x7c00).simd('i32x4MinS');
  splat32(f.get(magnitude), floatBits(2 ** 24))
    .simd('f32x4Mul')
    .simd('i32x4TruncSatF32x4S');
  splat32(f.get(magnitude), floatBits(2 ** -14)).simd('f32x4Ge');
  f.simd('v128Bitselect');
  splat32(f.get(value).i32(16).simd('i32x4ShrU'), 0x8000).simd('v128And').simd('v128Or').set(top);
  // NaN is all ones but the sign.
  splat32(f, 0x7fff).get(top).get(value).get(value).simd('f32x4Ne').simd('v128Bitselect');
}

/** Pushes the bits of four f32, of which NaN are all ones but the sign. */
export function pushSingleBits(f: FunctionBuilder, value: number): void {
  splat32(f, 0x7fffffff).get(value).get(value).get(value).simd('f32x4Ne').simd('v128Bitselect');
}

export function floatBits(value: number): number {
  return new Uint32Array(new Float32Array([value]).buffer)[0] ?? 0;
}

/** Leaves four f16 bits that are i32 in a local as f32 there; infinities and NaN become such. */
export function halvesToFloats(
  f: FunctionBuilder,
  value: number,
  [magnitude = 0, other = 0]: readonly number[],
): void {
  splat32(f.get(value), 0x7fff).simd('v128And').i32(13).simd('i32x4Shl').set(magnitude);
  // A subnormal one gets the least normal exponent, whose power is then taken away.
  splat32(f.get(magnitude), 1 << 23)
    .simd('i32x4LtS')
    .set(other);
  splat32(f.get(magnitude), 112 << 23).simd('i32x4Add');
  splat32(f.get(other), 1 << 23)
    .simd('v128And')
    .simd('i32x4Add');
  splat32(f.get(other), 113 << 23)
    .simd('v128And')
    .simd('f32x4Sub');
  // The top exponent becomes the top one.
  splat32(splat32(f.get(magnitude), 31 << 23).simd('i32x4GeS'), 112 << 23)
    .simd('v128And')
    .simd('v128Or');
  splat32(f.get(value).i32(16).simd('i32x4Shl'), 0x80000000).simd('v128And').simd('v128Or').set(value);
}
