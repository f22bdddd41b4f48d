import { isSignedType, typeBits } from '../../ptx/index.js';
import { canonicalNan64 } from './doubleBits.js';
import { canonicalNan32 } from './float.js';
import { fromBfloat, fromHalf } from './half.js';
import type { Value, ValueKind } from './operationTypes.js';

const scratch = new DataView(new ArrayBuffer(8));

/** The value that a register's bits have when read as a kind. */
export function valueOfBits(bits: bigint, kind: ValueKind): Value {
  const width = typeBits(kind);
  const own = BigInt.asUintN(width, bits);
  if (kind === 'f32') {
    scratch.setUint32(0, Number(own));
    return scratch.getFloat32(0);
  }
  if (kind === 'f64') {
    scratch.setBigUint64(0, own);
    return scratch.getFloat64(0);
  }
  if (kind === 'f16') return fromHalf(Number(own));
  if (kind === 'bf16') return fromBfloat(Number(own));
  const value = isSignedType(kind) || (width === 32 && kind !== 'u32') ? BigInt.asIntN(width, own) : own;
  return width === 64 ? value : Number(value);
}

/**
 * The bits that a value leaves in a register of `registerBits`: integers wrap to their kind and fill a wider register
 * by their sign, a NaN result is the hardware's own.
 */
export function bitsOfValue(value: Value, kind: ValueKind, registerBits: number): bigint {
  if (kind === 'f32') {
    if (value !== value) return BigInt(canonicalNan32);
    scratch.setFloat32(0, Number(value));
    return BigInt(scratch.getUint32(0));
  }
  if (kind === 'f64') {
    if (value !== value) return canonicalNan64;
    scratch.setFloat64(0, Number(value));
    return scratch.getBigUint64(0);
  }
  const width = typeBits(kind);
  const wrapped = isSignedType(kind)
    ? BigInt.asIntN(width, BigInt(value))
    : BigInt.asUintN(width, BigInt(value));
  return BigInt.asUintN(registerBits, wrapped);
}
