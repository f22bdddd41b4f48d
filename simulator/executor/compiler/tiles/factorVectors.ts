import type { FunctionBuilder } from '../../../wasm/index.js';
import type { ElementType } from '../../../tensor/index.js';
import { interleave, vectorLocals } from './shuffles.js';

/** An exponent that is below every other and stays so with one added, as i8 are: of nought. */
export const NO_EXPONENT = -128;

/**
 * Exponents of bf16 and tf32 that the fast sum takes: products are normal f32, sums of exponents are i8, and those with a nought lie
 * below all of them.
 */
const lowest = -50;
const highest = 20;
const bias = 127;

function splat16(f: FunctionBuilder, value: number): FunctionBuilder {
  const word = ((value & 0xffff) | (value << 16)) >>> 0;
  return f.v128(word, word, word, word);
}

export function splat32(f: FunctionBuilder, value: number): FunctionBuilder {
  return f.v128(value, value, value, value);
}

/** How factors of a type are read: values as f32, exponents as i16 or i32, and whether all are in the fast sum's range. */
export interface FactorVectors {
  /** Bits of an element once its lines are turned about. */
  readonly bits: 16 | 32;
  /** Values of the elements in a local: of 8 of 16 bits two vectors, of 4 of 32 bits one. */
  readonly values: readonly number[];
  /** Their exponents, as i16 or i32: what is below an i8 is nought's. */
  readonly exponents: number;
  decode(elements: number): void;
  /** Pushes whether an element was out of range. */
  pushIsOut(): void;
}

/** @param type of an eighth the half that it becomes */
export function factorVectors(f: FunctionBuilder, type: ElementType): FactorVectors {
  if (type === 'bf16') return shortVectors(f);
  if (type === 'tf32') return longVectors(f);
  return halfVectors(f);
}

function halfVectors(f: FunctionBuilder): FactorVectors {
  const [low = 0, high = 0, exponents = 0, most = 0] = vectorLocals(f, 4);
  const [magnitude = 0, isSubnormal = 0, top = 0, bottom = 0, taken = 0] = vectorLocals(f, 5);
  return {
    bits: 16,
    values: [low, high],
    exponents,
    decode(elements) {
      splat16(f.get(elements), 0x7fff).simd('v128And').set(magnitude);
      f.get(most).get(magnitude).simd('i16x8MaxU').set(most);
      splat16(f.get(magnitude), 0x400).simd('i16x8LtS').set(isSubnormal);
      splat16(f.get(elements), 0x8000).simd('v128And').set(taken);
      // Halves of an f32: a subnormal one gets the least normal exponent, whose power is then taken away.
      splat16(f.get(magnitude).i32(3).simd('i16x8ShrU'), 112 << 7).simd('i16x8Add');
      splat16(f.get(isSubnormal), 1 << 7).simd('v128And');
      f.simd('i16x8Add').get(taken).simd('v128Or').set(top);
      f.get(elements).i32(13).simd('i16x8Shl').set(bottom);
      splat16(f.get(isSubnormal), 113 << 7).simd('v128And');
      f.get(taken).simd('v128Or').set(taken);
      for (const [half, value] of [
        ['low', low],
        ['high', high],
      ] as const) {
        f.get(bottom).get(top);
        interleave(f, 16, half);
        splat16(f, 0).get(taken);
        interleave(f, 16, half);
        f.simd('f32x4Sub').set(value);
      }
      f.get(magnitude).i32(10).simd('i16x8ShrU').get(isSubnormal).simd('i16x8Sub');
      splat16(f.get(magnitude), 0).simd('i16x8Eq');
      splat16(splat16(f, -256).simd('v128And'), 15).simd('i16x8Sub');
      f.simd('i16x8Add').set(exponents);
    },
    pushIsOut() {
      splat16(f.get(most), 0x7bff).simd('i16x8GtU').simd('v128AnyTrue');
    },
  };
}

function shortVectors(f: FunctionBuilder): FactorVectors {
  const [low = 0, high = 0, exponents = 0, isNought = 0] = vectorLocals(f, 4);
  const range = new ExponentRange(f, 16);
  return {
    bits: 16,
    values: [low, high],
    exponents,
    decode(elements) {
      splat16(f, 0).get(elements);
      interleave(f, 16, 'low');
      f.set(low);
      splat16(f, 0).get(elements);
      interleave(f, 16, 'high');
      f.set(high);
      splat16(f.get(elements).i32(1).simd('i16x8Shl'), 0).simd('i16x8Eq').set(isNought);
      splat16(f.get(elements).i32(7).simd('i16x8ShrU'), 0xff).simd('v128And').set(exponents);
      range.add(exponents, isNought);
      splat16(f.get(exponents), bias).simd('i16x8Sub');
      splat16(f.get(isNought), -256).simd('v128And').simd('i16x8Add').set(exponents);
    },
    pushIsOut: () => {
      range.pushIsOut();
    },
  };
}

function longVectors(f: FunctionBuilder): FactorVectors {
  const [value = 0, exponents = 0, isNought = 0] = vectorLocals(f, 3);
  const range = new ExponentRange(f, 32);
  return {
    bits: 32,
    values: [value],
    exponents,
    decode(elements) {
      splat32(f.get(elements), 0xffffe000).simd('v128And').tee(value);
      splat32(f.i32(1).simd('i32x4Shl').tee(exponents), 0).simd('i32x4Eq').set(isNought);
      f.get(exponents).i32(24).simd('i32x4ShrU').set(exponents);
      range.add(exponents, isNought);
      splat32(f.get(exponents), bias).simd('i32x4Sub');
      splat32(f.get(isNought), -256).simd('v128And').simd('i32x4Add').set(exponents);
    },
    pushIsOut: () => {
      range.pushIsOut();
    },
  };
}

/** The largest and the smallest of biased exponents, of all but noughts. */
class ExponentRange {
  private readonly most: number;
  /** All ones less the smallest. */
  private readonly least: number;
  private readonly splat: typeof splat16;
  private readonly shape: 'i16x8' | 'i32x4';

  constructor(
    private readonly f: FunctionBuilder,
    bits: 16 | 32,
  ) {
    this.shape = bits === 16 ? 'i16x8' : 'i32x4';
    this.splat = bits === 16 ? splat16 : splat32;
    this.most = f.local('v128');
    this.least = f.local('v128');
  }

  add(exponents: number, isNought: number): void {
    const { f, shape, splat, most, least } = this;
    f.get(most).get(exponents).simd(`${shape}MaxU`).set(most);
    splat(f.get(least), 0xff).get(exponents).simd(`${shape}Sub`).get(isNought).simd('v128AndNot');
    f.simd(`${shape}MaxU`).set(least);
  }

  pushIsOut(): void {
    const { f, shape, splat } = this;
    splat(f.get(this.most), highest + bias).simd(`${shape}GtU`);
    splat(f.get(this.least), 0xff - (lowest + bias)).simd(`${shape}GtU`);
    f.simd('v128Or').simd('v128AnyTrue');
  }
}

/** Pushes 8 halves that eighths in a local are: those of its lower or upper half. */
export function pushHalves(
  f: FunctionBuilder,
  type: 'e4m3' | 'e5m2',
  eighths: number,
  part: 'low' | 'high',
  own: number,
): void {
  f.get(eighths).simd(part === 'low' ? 'i16x8ExtendLowI8x16U' : 'i16x8ExtendHighI8x16U');
  if (type === 'e5m2') {
    f.i32(8).simd('i16x8Shl');
    return;
  }
  f.set(own);
  // Subnormal ones are normal halves, whose upper bytes are these.
  f.v128(0x1e1c1800, 0x23222120, 0, 0).get(own);
  splat16(f, 0x7f).simd('v128And').simd('i8x16Swizzle');
  f.i32(8).simd('i16x8Shl');
  splat16(f.get(own), 0x7f).simd('v128And').i32(7).simd('i16x8Shl');
  splat16(f, 8 << 10).simd('i16x8Add');
  splat16(splat16(f.get(own), 0x7f).simd('v128And'), 8).simd('i16x8LtS');
  f.simd('v128Bitselect');
  splat16(f.get(own), 0x80).simd('v128And').i32(8).simd('i16x8Shl').simd('v128Or');
  // The one NaN.
  splat16(splat16(f.get(own), 0x7f).simd('v128And'), 0x7f).simd('i16x8Eq');
  splat16(f, 0x7fff).simd('v128And').simd('v128Or');
}
