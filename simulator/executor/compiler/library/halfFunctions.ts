import { FunctionBuilder } from '../../../wasm/index.js';
import { sumToOdd } from './laneFunctions.js';
import type { Library } from './library.js';

/**
 * Arithmetic of f16 and bf16 in double precision, four lanes at once: f32x4 operands that are halves, i32x4 results that
 * are halves' bits. Sums and products of halves are exact in doubles, or so lopsided that rounding twice does not matter;
 * a multiply-add is rounded to odd before it is rounded to a half.
 */

export type HalfType = 'f16' | 'bf16';

interface HalfShape {
  readonly fraction: number;
  readonly leastNormal: number;
  /** From here on everything is infinite once it is rounded. */
  readonly limit: number;
}

const shapes: Readonly<Record<HalfType, HalfShape>> = {
  f16: { fraction: 10, leastNormal: 2 ** -14, limit: 2 ** 16 },
  bf16: { fraction: 7, leastNormal: 2 ** -126, limit: 2 ** 128 },
};

/** Bits of the NaN that operations on halves give. */
export const CANONICAL_NAN_16 = 0x7fff;

function word(f: FunctionBuilder, bits: number): FunctionBuilder {
  return f.v128(bits, bits, bits, bits);
}

function double(f: FunctionBuilder, value: number): FunctionBuilder {
  const words = new Uint32Array(new Float64Array([value]).buffer);
  const [low, high] = [words[0] ?? 0, words[1] ?? 0];
  return f.v128(low, high, low, high);
}

/** Takes f64x2 from the stack; leaves their magnitudes rounded to a half format, as f32 in words 0 and 1. */
function pushRounded(f: FunctionBuilder, shape: HalfShape, value: number, magic: number): void {
  f.simd('f64x2Abs');
  double(f, shape.limit).simd('f64x2Pmin').tee(value);
  // Adding and taking away a power of two whose last bit is the half's last one.
  double(f, shape.leastNormal).simd('f64x2Pmax').v128(0, 0x7ff00000, 0, 0x7ff00000).simd('v128And');
  const exponent = (52 - shape.fraction) << 20;
  f.v128(0, exponent, 0, exponent).simd('i64x2Add').set(magic);
  f.get(value).get(magic).simd('f64x2Add').get(magic).simd('f64x2Sub').simd('f32x4DemoteF64x2Zero');
}

/** Takes magnitudes as f32x4 that are halves; leaves their bits. */
function pushBits(f: FunctionBuilder, type: HalfType): void {
  if (type === 'bf16') {
    f.i32(16).simd('i32x4ShrU');
    return;
  }
  // Scaling brings subnormal halves to where subnormal f32 have their bits.
  word(f, 0x07800000).simd('f32x4Mul').i32(13).simd('i32x4ShrU');
}

/** @param write leaves the f64x2 result of operands in locals. */
function rounded(
  type: HalfType,
  count: number,
  write: (f: FunctionBuilder, operands: readonly number[]) => void,
): FunctionBuilder {
  const f = new FunctionBuilder(
    Array.from({ length: count }, () => 'v128' as const),
    ['v128'],
  );
  const operands = Array.from({ length: count }, () => f.local('v128'));
  const exact = [f.local('v128'), f.local('v128')] as const;
  const [value, magic, bits] = [f.local('v128'), f.local('v128'), f.local('v128')];
  for (const [half, result] of exact.entries()) {
    operands.forEach((local, operand) => {
      f.get(operand);
      if (half === 1) f.get(operand).shuffleWords(2, 3, 2, 3);
      f.simd('f64x2PromoteLowF32x4').set(local);
    });
    write(f, operands);
    f.tee(result);
    pushRounded(f, shapes[type], value, magic);
  }
  f.shuffleWords(0, 1, 4, 5);
  pushBits(f, type);
  // The sign of the exact value, zeros included; a NaN is the canonical one.
  f.get(exact[0]).get(exact[1]).shuffleWords(1, 3, 5, 7).i32(16).simd('i32x4ShrU');
  word(f, 0x8000).simd('v128And').simd('v128Or').set(bits);
  word(f, CANONICAL_NAN_16).get(bits);
  for (const result of exact) f.get(result).get(result).simd('f64x2Ne');
  return f.shuffleWords(0, 2, 4, 6).simd('v128Bitselect');
}

function ofType(type: HalfType) {
  return {
    add: () => rounded(type, 2, (f, [a = 0, b = 0]) => f.get(a).get(b).simd('f64x2Add')),
    sub: () => rounded(type, 2, (f, [a = 0, b = 0]) => f.get(a).get(b).simd('f64x2Sub')),
    mul: () => rounded(type, 2, (f, [a = 0, b = 0]) => f.get(a).get(b).simd('f64x2Mul')),
    fma: () =>
      rounded(type, 3, (f, [a = 0, b = 0, c = 0]) => {
        f.get(a).get(b).simd('f64x2Mul').tee(a).get(c).simd('f64x2Add');
        sumToOdd(f, a, c);
      }),
    round: () => rounded(type, 1, (f, [a = 0]) => f.get(a)),
  };
}

/** f16 bits in words to f32x4; a NaN becomes one. */
function widenHalves(): FunctionBuilder {
  const f = new FunctionBuilder(['v128'], ['v128']);
  const magnitude = f.local('v128');
  word(f.get(0), 0x7fff).simd('v128And').set(magnitude);
  // Moving the exponent field and scaling by 2^112 makes subnormals right too.
  word(f.get(magnitude).i32(13).simd('i32x4Shl'), 0x77800000).simd('f32x4Mul');
  // Infinity and NaN: the exponent field of f32 is all ones too.
  word(word(f.get(magnitude), 0x7bff).simd('i32x4GtS'), 0x7f800000)
    .simd('v128And')
    .simd('v128Or');
  return word(f.get(0), 0x8000).simd('v128And').i32(16).simd('i32x4Shl').simd('v128Or');
}

const f16 = ofType('f16');
const bf16 = ofType('bf16');

export const halfFunctionMakers = {
  widenHalves,
  addF16: f16.add,
  subF16: f16.sub,
  mulF16: f16.mul,
  fmaF16: f16.fma,
  roundF16: f16.round,
  addBf16: bf16.add,
  subBf16: bf16.sub,
  mulBf16: bf16.mul,
  fmaBf16: bf16.fma,
  roundBf16: bf16.round,
} satisfies Record<string, (library: Library) => FunctionBuilder>;
