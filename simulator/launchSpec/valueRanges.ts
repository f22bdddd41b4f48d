import { isNonFinite, type ElementType } from './elementTypes.js';
import { largestOf } from './smallFloats.js';

type FloatType = 'f32' | 'f64' | 'f16' | 'bf16';
type IntegerType = Exclude<ElementType, FloatType>;

const RANGES: Readonly<Record<IntegerType, readonly [low: bigint, high: bigint]>> = {
  i8: [-(2n ** 7n), 2n ** 7n - 1n],
  u8: [0n, 2n ** 8n - 1n],
  i16: [-(2n ** 15n), 2n ** 15n - 1n],
  u16: [0n, 2n ** 16n - 1n],
  i32: [-(2n ** 31n), 2n ** 31n - 1n],
  u32: [0n, 2n ** 32n - 1n],
  i64: [-(2n ** 63n), 2n ** 63n - 1n],
  u64: [0n, 2n ** 64n - 1n],
};

/** Decimal digits of a whole number; no type holds more than 20. */
const WHOLE = /^-?\d{1,20}$/;

/** Why a JSON value is none that `type` holds, with the fix; undefined when it is one. Nothing is rounded or wrapped. */
export function misfit(type: ElementType, value: unknown): string | undefined {
  return isFloat(type) ? floatMisfit(type, value) : integerMisfit(type, value);
}

function isFloat(type: ElementType): type is FloatType {
  return type === 'f32' || type === 'f64' || type === 'f16' || type === 'bf16';
}

function floatMisfit(type: FloatType, value: unknown): string | undefined {
  if (typeof value === 'string' && (WHOLE.test(value) || isNonFinite(value))) return undefined;
  if (typeof value !== 'number') return `expected a number (${type}), received ${shown(value)}`;
  if (!Number.isFinite(value))
    return `expected a finite number (${type}), received ${value}; give "NaN", "Infinity" or "-Infinity" as text`;
  if (type === 'f32' && !Number.isFinite(Math.fround(value)))
    return `${value} is beyond the largest ${type}, 3.4028235e38; give a smaller number or use f64`;
  if ((type === 'f16' || type === 'bf16') && Math.abs(value) > largestOf(type))
    return `${value} is beyond the largest ${type}, ${largestOf(type)}; give a smaller number or use f32`;
  return undefined;
}

function integerMisfit(type: IntegerType, value: unknown): string | undefined {
  const [low, high] = RANGES[type];
  const isWide = type === 'i64' || type === 'u64';
  const expected = `expected a whole number from ${low} to ${high} (${type})`;
  if (typeof value === 'string') {
    if (WHOLE.test(value) && isInside(BigInt(value), low, high)) return undefined;
    return `${expected}, received ${shown(value)}`;
  }
  if (typeof value !== 'number' || !Number.isInteger(value)) return `${expected}, received ${shown(value)}`;
  if (isWide && !Number.isSafeInteger(value)) {
    return `${expected}; JSON numbers beyond 2^53 lose digits: give it as a string of decimal digits`;
  }
  return isInside(BigInt(value), low, high) ? undefined : `${expected}, received ${value}`;
}

function isInside(value: bigint, low: bigint, high: bigint): boolean {
  return value >= low && value <= high;
}

/** A value in a message, cut where it is long. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
