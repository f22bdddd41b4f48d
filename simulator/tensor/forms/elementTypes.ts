/** Type of a matrix's elements, as PTX names it. */
export type ElementType =
  'f16' | 'bf16' | 'tf32' | 'f32' | 'f64' | 'e4m3' | 'e5m2' | 's8' | 'u8' | 's4' | 'u4' | 'b1' | 's32';

/** Fields of a binary floating-point format; tf32 is kept in 32 bits, of which the low ones are no part of it. */
export interface FloatFormat {
  readonly exponentBits: number;
  readonly fractionBits: number;
  readonly bias: number;
  /** e4m3 has none: its top exponent holds numbers, and one NaN a sign. */
  readonly hasInfinity: boolean;
  /** Bits below the fraction in the element's storage. */
  readonly paddingBits: number;
}

function format(exponentBits: number, fractionBits: number, paddingBits = 0): FloatFormat {
  return {
    exponentBits,
    fractionBits,
    bias: 2 ** (exponentBits - 1) - 1,
    hasInfinity: true,
    paddingBits,
  };
}

export const floatFormats = {
  f16: format(5, 10),
  bf16: format(8, 7),
  tf32: format(8, 10, 13),
  f32: format(8, 23),
  f64: format(11, 52),
  e4m3: { ...format(4, 3), hasInfinity: false },
  e5m2: format(5, 2),
} as const satisfies Partial<Record<ElementType, FloatFormat>>;

const bits: Readonly<Record<ElementType, number>> = {
  f16: 16,
  bf16: 16,
  tf32: 32,
  f32: 32,
  f64: 64,
  e4m3: 8,
  e5m2: 8,
  s8: 8,
  u8: 8,
  s4: 4,
  u4: 4,
  b1: 1,
  s32: 32,
};

/** Bits that an element takes in a register or in memory. */
export function elementBits(type: ElementType): number {
  return bits[type];
}

/** The format of a float, undefined of an integer or a bit. */
export function floatFormat(type: ElementType): FloatFormat | undefined {
  return (floatFormats as Partial<Record<ElementType, FloatFormat>>)[type];
}
