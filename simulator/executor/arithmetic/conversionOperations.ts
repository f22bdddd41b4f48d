import type { ScalarType } from '../../ptx/index.js';
import { isSignedType, typeBits } from '../../ptx/index.js';
import { clampInteger, floatToInteger, toIntegral } from './conversion.js';
import { bitsOfDouble, doubleOf, isNan64, quiet64 } from './doubleBits.js';
import { canonicalNan32, flush32, round32, saturate } from './float.js';
import { roundToBits, roundToNumber, binary32, binary64 } from './floatFormat.js';

import { roundingOf } from './floatOperations.js';
import { halfFormatOf } from './half.js';
import type { OperationMaker, OperationShape, Value, ValueKind } from './operationTypes.js';
import { numeric } from './operationTypes.js';
import { fromQuarters, isQuarters, tensorFloatAway, toQuarter, toTensorFloat } from './smallFormats.js';

type Made = ReturnType<OperationMaker>;

function isFloat(type: ScalarType): boolean {
  return /^(f|bf|tf)/.test(type);
}

function isHalf(type: ScalarType): boolean {
  return type === 'f16' || type === 'bf16';
}

/** What a NaN becomes as an integer: zero, but the least value where hardware converts in 64 bits. */
function nanAsInteger(from: ScalarType, to: ScalarType): bigint {
  const bits = typeBits(to);
  if (typeBits(from) < 64 && bits < 64) return 0n;
  return isSignedType(to) ? -(1n << BigInt(bits - 1)) : 1n << BigInt(bits - 1);
}

function integerResult(value: bigint, to: ScalarType): Value {
  return typeBits(to) === 64 ? value : Number(BigInt.asIntN(typeBits(to), value));
}

/** Kind by which a source is read: floats of 16 and 64 bits as their bits. */
function sourceKind(from: ScalarType): ValueKind {
  return isHalf(from) ? 'b16' : from === 'f64' ? 'b64' : from;
}

/** The number that a float source stands for, flushed under `.ftz`. */
function numberReader(from: ScalarType, flushes: boolean): (value: Value) => number {
  if (isHalf(from)) {
    const { read } = halfFormatOf(from);
    return (value) => read(Number(value));
  }
  if (from === 'f64') return (value) => doubleOf(BigInt(value));
  return flushes ? (value) => flush32(Number(value)) : Number;
}

/** What `.relu` and `.satfinite` make of a number on its way into a smaller format. */
function bounded(shape: OperationShape, greatest: number): (value: number) => number {
  const rectifies = shape.has('relu');
  const clamps = shape.has('satfinite');
  return (value) => {
    if (value !== value) return value;
    const kept = rectifies && !(value > 0) ? 0 : value;
    return clamps ? Math.min(Math.max(kept, -greatest), greatest) : kept;
  };
}

/** Bits that a number has in a half format. */
function halfWriter(shape: OperationShape, to: string): (value: number) => number {
  const half = halfFormatOf(to);
  const rounding = roundingOf(shape.has);
  const bound = bounded(shape, half.read(half.greatest));
  return (value) => half.write(bound(value), rounding);
}

function integerToFloat(shape: OperationShape, to: ScalarType): Made {
  const rounding = roundingOf(shape.has);
  const clamps = shape.has('sat');
  const exactOf = (value: bigint) => ({
    negative: value < 0n,
    significand: value < 0n ? -value : value,
    exponent: 0,
  });
  const clamped = (value: bigint): bigint => (clamps ? (value > 1n ? 1n : value < 0n ? 0n : value) : value);
  const sources = [shape.type];
  if (isHalf(to)) {
    const { format } = halfFormatOf(to);
    return {
      sources,
      result: 'b16',
      apply: (a = 0) => Number(roundToBits(exactOf(clamped(BigInt(a))), format, rounding)),
    };
  }
  if (to === 'f64') {
    return {
      sources,
      result: 'b64',
      apply: (a = 0) => bitsOfDouble(roundToNumber(exactOf(clamped(BigInt(a))), binary64, rounding)),
    };
  }
  return {
    sources,
    result: 'f32',
    apply: (a = 0) => roundToNumber(exactOf(clamped(BigInt(a))), binary32, rounding),
  };
}

function floatToIntegers(shape: OperationShape, to: ScalarType): Made {
  const from = shape.type;
  const rounding = roundingOf(shape.has);
  const nan = nanAsInteger(from, to);
  const read = numberReader(from, shape.has('ftz'));
  return {
    sources: [sourceKind(from)],
    result: to,
    apply: (a = 0) =>
      integerResult(floatToInteger(read(a), typeBits(to), isSignedType(to), rounding, nan), to),
  };
}

function isIntegral(shape: OperationShape): boolean {
  return shape.has('rni') || shape.has('rzi') || shape.has('rmi') || shape.has('rpi');
}

/** The number after `.rni …` and before the target's own rounding, `.sat` included. */
function prepared(shape: OperationShape): (value: number) => number {
  const rounding = roundingOf(shape.has);
  const integral = isIntegral(shape);
  const clamps = shape.has('sat');
  return (value) => {
    const rounded = integral ? toIntegral(value, rounding) : value;
    return clamps ? saturate(rounded) : rounded;
  };
}

/** Upper bits of a double's NaN in a smaller format of `fraction` bits, quieted. */
function narrowNan(bits: bigint, fraction: number, exponent: number): number {
  const sign = (bits >> 63n) << BigInt(fraction + exponent);
  const field = ((1n << BigInt(exponent)) - 1n) << BigInt(fraction);
  const payload = (bits >> BigInt(52 - fraction)) & ((1n << BigInt(fraction)) - 1n);
  return Number(sign | field | payload | (1n << BigInt(fraction - 1)));
}

function wideNan(bits: number, fraction: number, exponent: number): bigint {
  const wide = BigInt(bits >>> 0);
  const sign = (wide >> BigInt(fraction + exponent)) << 63n;
  const payload = (wide & ((1n << BigInt(fraction)) - 1n)) << BigInt(52 - fraction);
  return quiet64(sign | 0x7ff0000000000000n | payload);
}

const fields: Readonly<Record<string, readonly [fraction: number, exponent: number]>> = {
  f16: [10, 5],
  bf16: [7, 8],
  f32: [23, 8],
};

/** From f64, whose NaN keeps what the target has room for. */
function fromDouble(shape: OperationShape, to: ScalarType): Made {
  const rounding = roundingOf(shape.has);
  const prepare = prepared(shape);
  const flushes = shape.has('ftz');
  const clamps = shape.has('sat');
  const [fraction, exponent] = fields[to] ?? [52, 11];
  if (to === 'f64') {
    return {
      sources: ['b64'],
      result: 'b64',
      apply: (a = 0n) => {
        const bits = BigInt(a);
        if (isNan64(bits)) return clamps ? 0n : quiet64(bits);
        return bitsOfDouble(prepare(doubleOf(bits)));
      },
    };
  }
  // What is subnormal before it is rounded is flushed.
  const write = isHalf(to)
    ? halfWriter(shape, to)
    : (value: number) => bitsOf32(round32(flushes ? flush32(value) : value, rounding));
  return {
    sources: ['b64'],
    result: isHalf(to) ? 'b16' : 'b32',
    apply: (a = 0n) => {
      const bits = BigInt(a);
      if (isNan64(bits)) return clamps ? 0 : narrowNan(bits, fraction, exponent);
      return write(prepare(doubleOf(bits)));
    },
  };
}

const single = new Float32Array(1);
const singleWord = new Int32Array(single.buffer);

function bitsOf32(value: number): number {
  single[0] = value;
  return singleWord[0] ?? 0;
}

/** To f64 from a smaller float: exact, a NaN with its payload. */
function toDouble(shape: OperationShape): Made {
  const from = shape.type;
  const [fraction, exponent] = fields[from] ?? [23, 8];
  const read = isHalf(from) ? halfFormatOf(from).read : numberOf32;
  const prepare = prepared(shape);
  const flushes = shape.has('ftz') && from === 'f32';
  const clamps = shape.has('sat');
  return {
    sources: [isHalf(from) ? 'b16' : 'b32'],
    result: 'b64',
    apply: (a = 0) => {
      const bits = Number(a);
      const value = read(bits);
      if (value !== value) return clamps ? 0n : wideNan(flushes ? canonicalNan32 : bits, fraction, exponent);
      return bitsOfDouble(prepare(flushes ? flush32(value) : value));
    },
  };
}

function numberOf32(bits: number): number {
  singleWord[0] = bits;
  return single[0] ?? 0;
}

function floatToFloat(shape: OperationShape, to: ScalarType): Made {
  const from = shape.type;
  const isMove = to === from && !isIntegral(shape) && !shape.has('ftz') && !shape.has('sat');
  if (isMove && !isHalf(to)) {
    const kind = to === 'f64' ? 'b64' : 'b32';
    return { sources: [kind], result: kind, apply: (a = 0) => a };
  }
  if (from === 'f64') return fromDouble(shape, to);
  if (to === 'f64') return toDouble(shape);
  const flushes = shape.has('ftz');
  // A bf16 is the upper half of an f32: its bits move as they are, those of a NaN too.
  if (from === 'bf16' && to === 'f32') {
    return {
      sources: ['b16'],
      result: 'b32',
      apply: (a = 0) => {
        const bits = Number(a) << 16;
        if (flushes && (bits & 0x7fffffff) > 0x7f800000) return canonicalNan32;
        return flushes && (bits & 0x7f800000) === 0 ? bits & 0x80000000 : bits;
      },
    };
  }
  // f16 has no `.ftz`: subnormals of f32 only tell which way it rounds.
  const read = numberReader(from, flushes && to !== 'f16');
  const prepare = prepared(shape);
  const sources = [sourceKind(from)];
  if (isHalf(to)) {
    const write = halfWriter(shape, to);
    return { sources, result: 'b16', apply: (a = 0) => write(prepare(read(a))) };
  }
  if (to === 'tf32') {
    if (shape.has('rna'))
      return {
        sources: ['b32'],
        result: 'b32',
        apply: numeric((a = 0) => tensorFloatAway(a, shape.has('satfinite'))),
      };
    const bound = bounded(shape, Infinity);
    const rounding = roundingOf(shape.has);
    return { sources, result: 'b32', apply: (a = 0) => toTensorFloat(bound(read(a)), rounding) };
  }
  return {
    sources,
    result: 'f32',
    apply: (a = 0) => {
      const value = prepare(read(a));
      return flushes ? flush32(value) : value;
    },
  };
}

/** Two results in one register: the first operand in the upper half. */
function packed(shape: OperationShape, to: ScalarType): Made {
  const from = shape.type;
  if (isQuarters(from)) {
    const bound = shape.has('relu') ? bounded(shape, Infinity) : undefined;
    return { sources: ['b16'], result: 'b32', apply: (a = 0) => fromQuarters(Number(a), from, bound) };
  }
  if (isQuarters(to)) {
    const write = toQuarter(to, bounded(shape, Infinity));
    if (from === 'f32') {
      return {
        sources: ['f32', 'f32'],
        result: 'b16',
        apply: numeric((a = 0, b = 0) => (write(a) << 8) | write(b)),
      };
    }
    const { read } = halfFormatOf(from);
    return {
      sources: ['b32'],
      result: 'b16',
      apply: numeric((a = 0) => (write(read(a >>> 16)) << 8) | write(read(a & 0xffff))),
    };
  }
  const write = halfWriter(shape, to);
  return {
    sources: ['f32', 'f32'],
    result: 'b32',
    apply: numeric((a = 0, b = 0) => (write(a) << 16) | write(b)),
  };
}

/** `cvt.pack`: two integers clamped and put below what the third operand holds. */
function pack(shape: OperationShape, to: ScalarType): Made {
  const bits = typeBits(to);
  const mask = (1 << bits) - 1;
  const clamp = (value: number): number => Number(clampInteger(BigInt(value), bits, isSignedType(to))) & mask;
  return {
    sources: shape.types.length > 2 ? ['s32', 's32', 'b32'] : ['s32', 's32'],
    result: 'b32',
    apply: numeric((a = 0, b = 0, c = 0) => (bits === 8 ? c << 16 : 0) | (clamp(a) << bits) | clamp(b)),
  };
}

/** `cvt` among all scalar types. */
export const conversionOperation: OperationMaker = (shape) => {
  const to = shape.types[0] ?? 'b32';
  const from = shape.type;
  if (shape.has('pack')) return pack(shape, to);
  if (/x2$/.test(to)) return packed(shape, to);
  if (isFloat(to)) return isFloat(from) ? floatToFloat(shape, to) : integerToFloat(shape, to);
  if (isFloat(from)) return floatToIntegers(shape, to);
  const [bits, isSigned, clamps] = [typeBits(to), isSignedType(to), shape.has('sat')];
  return {
    sources: [from],
    result: to,
    apply: (a = 0) => integerResult(clamps ? clampInteger(BigInt(a), bits, isSigned) : BigInt(a), to),
  };
};
