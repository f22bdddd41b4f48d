import type { ScalarType } from '../../ptx/index.js';
import { isSignedType, typeBits } from '../../ptx/index.js';
import { clampInteger, floatToInteger, integerToFloat, toIntegral } from './conversion.js';
import { flush32, round32, saturate } from './float.js';
import { roundingOf } from './floatOperations.js';
import { toBfloat, toHalf } from './half.js';
import type { OperationMaker, OperationShape, Value } from './operationTypes.js';

function isFloat(type: ScalarType): boolean {
  return /^(f|bf)/.test(type);
}

/** What a NaN becomes as an integer: zero, but the least value where hardware converts in 64 bits. */
function nanAsInteger(from: ScalarType, to: ScalarType): bigint {
  const bits = typeBits(to);
  if (typeBits(from) < 64 && bits < 64) return 0n;
  return isSignedType(to) ? -(1n << BigInt(bits - 1)) : 1n << BigInt(bits - 1);
}

/** Rounds a number to a float type; halves are given as their bits. */
function toFloatType(value: number, type: ScalarType, shape: OperationShape): number {
  const rounding = roundingOf(shape.has);
  const kept = shape.has('relu') && !(value > 0) ? (value !== value ? value : 0) : value;
  if (type === 'f16') return toHalf(kept, rounding);
  if (type === 'bf16') return toBfloat(kept, rounding);
  return type === 'f32' ? round32(kept, rounding) : kept;
}

function integerResult(value: bigint, to: ScalarType): Value {
  return typeBits(to) === 64 ? value : Number(BigInt.asIntN(typeBits(to), value));
}

/** `cvt` among all scalar types. Halves are read by value and written as bits. */
export const conversionOperation: OperationMaker = (shape) => {
  const to = shape.types[0] ?? 'b32';
  const from = shape.type;
  const flushes = shape.has('ftz');
  const clamps = shape.has('sat');
  const read = (value: Value): number => (flushes && from === 'f32' ? flush32(Number(value)) : Number(value));
  if (to === 'f16x2' || to === 'bf16x2') {
    const half = to === 'f16x2' ? 'f16' : 'bf16';
    return {
      apply: (a = 0, b = 0) =>
        (toFloatType(Number(a), half, shape) << 16) | toFloatType(Number(b), half, shape),
      result: 'b32',
    };
  }
  if (!isFloat(to)) {
    const bits = typeBits(to);
    const isSigned = isSignedType(to);
    if (!isFloat(from)) {
      return {
        apply: (a = 0) => integerResult(clamps ? clampInteger(BigInt(a), bits, isSigned) : BigInt(a), to),
      };
    }
    const rounding = roundingOf(shape.has);
    const nan = nanAsInteger(from, to);
    return { apply: (a = 0) => integerResult(floatToInteger(read(a), bits, isSigned, rounding, nan), to) };
  }
  const result: ScalarType = to === 'f16' || to === 'bf16' ? 'b16' : to;
  if (!isFloat(from)) {
    const rounding = roundingOf(shape.has);
    return {
      apply: (a = 0) => {
        const value = BigInt(a);
        if (to === 'f64') return integerToFloat(value, 64, rounding);
        // Halves round from the exact integer too: 64 bits fit no double, so round to odd by way of f64 is not enough.
        if (to === 'f32') return finish(integerToFloat(value, 32, rounding));
        return to === 'f16' ? halfOfInteger(value, toHalf, shape) : halfOfInteger(value, toBfloat, shape);
      },
      result,
    };
  }
  function finish(value: number): number {
    const flushed = flushes && to === 'f32' ? flush32(value) : value;
    return clamps ? saturate(flushed) : flushed;
  }
  // A bf16 is the upper half of an f32: its bits move as they are, those of a NaN too.
  if (from === 'bf16' && to === 'f32' && !clamps && !flushes) {
    return { apply: (a = 0) => Number(a) << 16, sources: ['b16'], result: 'b32' };
  }
  const toInteger = shape.has('rni') || shape.has('rzi') || shape.has('rmi') || shape.has('rpi');
  return {
    apply: (a = 0) => {
      let value = read(a);
      if (toInteger) value = toIntegral(value, roundingOf(shape.has));
      if (clamps) value = saturate(value);
      const rounded = toFloatType(value, to, shape);
      return result === 'b16' ? rounded : finish(rounded);
    },
    result,
  };
};

/** An integer to f16 or bf16: exact as a double where it matters, since larger ones are beyond the halves' precision. */
function halfOfInteger(
  value: bigint,
  round: (value: number, rounding: ReturnType<typeof roundingOf>) => number,
  shape: OperationShape,
): number {
  // Rounding to odd at 53 bits keeps any later rounding to 11 bits or fewer right.
  const nearest = Number(value);
  const rounding = roundingOf(shape.has);
  const exactlyThere = BigInt(nearest) === value;
  if (exactlyThere) return round(nearest, rounding);
  const towardZero = integerToFloat(value, 64, 'towardZero');
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, towardZero);
  view.setUint8(7, view.getUint8(7) | 1);
  return round(view.getFloat64(0), rounding);
}
