import { clampInteger } from './conversion.js';
import { divide, divideBig, remainder, remainderBig } from './division.js';
import type { OperationMaker, OperationShape } from './operationTypes.js';
import { big, numeric } from './operationTypes.js';

/** Either of two functions by width: 64-bit integers are BigInt. */
function byWidth(
  shape: OperationShape,
  narrow: (...values: number[]) => number,
  wide: (...values: bigint[]) => bigint,
): ReturnType<OperationMaker> {
  return { apply: shape.bits === 64 ? big(wide) : numeric(narrow) };
}

function saturateSigned(value: number): number {
  return Math.min(Math.max(value, -0x80000000), 0x7fffffff);
}

/** Bits `[bits, 2 · bits)` or `[0, bits)` of a product, c added after (or, for 24-bit factors, bits 16 up). */
function product(a: bigint, b: bigint, shape: OperationShape): bigint {
  return shape.has('hi') ? (a * b) >> BigInt(shape.bits) : a * b;
}

function toBig(apply: (a: bigint, b: bigint, c: bigint) => bigint): (...values: number[]) => number {
  return (a = 0, b = 0, c = 0) => Number(BigInt.asIntN(32, apply(BigInt(a), BigInt(b), BigInt(c))));
}

function factor24(value: bigint, isSigned: boolean): bigint {
  return isSigned ? BigInt.asIntN(24, value) : BigInt.asUintN(24, value);
}

const multiply: OperationMaker = (shape) => {
  if (shape.has('wide')) {
    if (shape.bits === 32) return { apply: (a = 0, b = 0) => BigInt(a) * BigInt(b) };
    return { apply: numeric((a = 0, b = 0) => a * b) };
  }
  if (shape.has('lo') && shape.bits < 64) return { apply: numeric((a = 0, b = 0) => Math.imul(a, b)) };
  return byWidth(
    shape,
    toBig((a, b) => product(a, b, shape)),
    (a = 0n, b = 0n) => product(a, b, shape),
  );
};

const multiplyAdd: OperationMaker = (shape) => {
  if (shape.has('wide')) {
    if (shape.bits === 32) return { apply: (a = 0, b = 0, c = 0n) => BigInt(a) * BigInt(b) + BigInt(c) };
    return { apply: numeric((a = 0, b = 0, c = 0) => a * b + c) };
  }
  if (shape.has('lo') && shape.bits < 64) {
    return { apply: numeric((a = 0, b = 0, c = 0) => (Math.imul(a, b) + c) | 0) };
  }
  return byWidth(
    shape,
    toBig((a, b, c) =>
      shape.has('sat') ? clampInteger(product(a, b, shape) + c, 32, true) : product(a, b, shape) + c,
    ),
    (a = 0n, b = 0n, c = 0n) => product(a, b, shape) + c,
  );
};

export const integerOperations = {
  add: (shape) =>
    byWidth(
      shape,
      shape.has('sat') ? (a = 0, b = 0) => saturateSigned(a + b) : (a = 0, b = 0) => a + b,
      (a = 0n, b = 0n) => a + b,
    ),
  sub: (shape) =>
    byWidth(
      shape,
      shape.has('sat') ? (a = 0, b = 0) => saturateSigned(a - b) : (a = 0, b = 0) => a - b,
      (a = 0n, b = 0n) => a - b,
    ),
  mul: multiply,
  mad: multiplyAdd,
  mul24: (shape) => ({
    apply: numeric(
      toBig(
        (a, b) => (factor24(a, shape.isSigned) * factor24(b, shape.isSigned)) >> (shape.has('hi') ? 16n : 0n),
      ),
    ),
  }),
  mad24: (shape) => ({
    apply: numeric(
      toBig((a, b, c) => {
        const high =
          (factor24(a, shape.isSigned) * factor24(b, shape.isSigned)) >> (shape.has('hi') ? 16n : 0n);
        return shape.has('sat') ? clampInteger(BigInt.asIntN(32, high) + c, 32, true) : high + c;
      }),
    ),
  }),
  sad: (shape) =>
    byWidth(
      shape,
      (a = 0, b = 0, c = 0) => c + Math.abs(a - b),
      (a = 0n, b = 0n, c = 0n) => c + (a < b ? b - a : a - b),
    ),
  div: (shape) =>
    byWidth(
      shape,
      (a = 0, b = 0) => divide(a, b),
      (a = 0n, b = 0n) => divideBig(a, b),
    ),
  rem: (shape) =>
    byWidth(
      shape,
      (a = 0, b = 0) => remainder(a, b),
      (a = 0n, b = 0n) => remainderBig(a, b),
    ),
  neg: (shape) =>
    byWidth(
      shape,
      (a = 0) => -a,
      (a = 0n) => -a,
    ),
  abs: (shape) =>
    byWidth(
      shape,
      (a = 0) => Math.abs(a),
      (a = 0n) => (a < 0n ? -a : a),
    ),
  min: (shape) =>
    byWidth(
      shape,
      shape.has('relu') ? (a = 0, b = 0) => Math.max(Math.min(a, b), 0) : (a = 0, b = 0) => Math.min(a, b),
      (a = 0n, b = 0n) => (a < b ? a : b),
    ),
  max: (shape) =>
    byWidth(
      shape,
      shape.has('relu') ? (a = 0, b = 0) => Math.max(a, b, 0) : (a = 0, b = 0) => Math.max(a, b),
      (a = 0n, b = 0n) => (a > b ? a : b),
    ),
} satisfies Readonly<Record<string, OperationMaker>>;
