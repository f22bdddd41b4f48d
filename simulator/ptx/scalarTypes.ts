import type { ScalarType } from './ir.js';

const bits: Readonly<Record<ScalarType, number>> = {
  pred: 1,
  b8: 8,
  b16: 16,
  b32: 32,
  b64: 64,
  b128: 128,
  u8: 8,
  u16: 16,
  u32: 32,
  u64: 64,
  s8: 8,
  s16: 16,
  s32: 32,
  s64: 64,
  f16: 16,
  f16x2: 32,
  bf16: 16,
  bf16x2: 32,
  u16x2: 32,
  s16x2: 32,
  e4m3x2: 16,
  e5m2x2: 16,
  tf32: 32,
  f32: 32,
  f64: 64,
};

/** Width of a type in bits; a predicate has 1. */
export function typeBits(type: ScalarType): number {
  return bits[type];
}

/** Bytes that a value of this type takes in memory. */
export function typeBytes(type: ScalarType): number {
  return type === 'pred' ? 1 : bits[type] / 8;
}

export function isScalarType(text: string): text is ScalarType {
  return Object.hasOwn(bits, text);
}

/** Types that only instructions have: of what is declared they are bits. */
const ofInstructions = new Set<ScalarType>(
  'bf16 bf16x2 u16x2 s16x2 e4m3x2 e5m2x2 tf32'.split(' ') as ScalarType[],
);

/** Whether a variable in memory may be of this type. */
export function isDeclarableType(type: ScalarType): boolean {
  return type !== 'pred' && !ofInstructions.has(type);
}

export function isFloatType(type: ScalarType): boolean {
  return type === 'f32' || type === 'f64' || type === 'f16' || type === 'bf16' || type === 'tf32';
}

export function isSignedType(type: ScalarType): boolean {
  return type.startsWith('s');
}
