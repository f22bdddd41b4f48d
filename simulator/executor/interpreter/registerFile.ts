import { isSignedType, typeBits } from '../../ptx/index.js';
import type { ScalarType } from '../../ptx/index.js';
import { canonicalNan32, fromBfloat, fromHalf } from '../arithmetic/index.js';
import type { Value, ValueKind } from '../arithmetic/index.js';

export const lanesPerWarp = 32;

/**
 * The registers of one warp: 64 bits for each register and lane, lanes of a register side by side. Narrower values lie
 * in the low bits, zero-extended to 32; predicates are 0 or 1.
 */
export class RegisterFile {
  readonly words: Int32Array;
  readonly singles: Float32Array;
  readonly doubles: Float64Array;
  readonly longs: BigUint64Array;

  constructor(registers: number) {
    const buffer = new ArrayBuffer(registers * lanesPerWarp * 8);
    this.words = new Int32Array(buffer);
    this.singles = new Float32Array(buffer);
    this.doubles = new Float64Array(buffer);
    this.longs = new BigUint64Array(buffer);
  }

  predicate(register: number, lane: number): boolean {
    return this.words[2 * (register * lanesPerWarp + lane)] === 1;
  }
}

export type RegisterReader = (file: RegisterFile, lane: number) => Value;
export type RegisterWriter = (file: RegisterFile, lane: number, value: Value) => void;

/** Reads a register as a kind. The low bits count when the register is wider. */
export function registerReader(register: number, kind: ValueKind): RegisterReader {
  const base = register * lanesPerWarp;
  const word = (file: RegisterFile, lane: number): number => file.words[2 * (base + lane)] ?? 0;
  if (kind === 'f32') return (file, lane) => file.singles[2 * (base + lane)] ?? 0;
  if (kind === 'f64') return (file, lane) => file.doubles[base + lane] ?? 0;
  if (kind === 'f16') return (file, lane) => fromHalf(word(file, lane) & 0xffff);
  if (kind === 'bf16') return (file, lane) => fromBfloat(word(file, lane) & 0xffff);
  const bits = typeBits(kind);
  const isSigned = isSignedType(kind);
  if (bits === 64) {
    if (isSigned) return (file, lane) => BigInt.asIntN(64, file.longs[base + lane] ?? 0n);
    return (file, lane) => file.longs[base + lane] ?? 0n;
  }
  if (bits === 32) return kind === 'u32' ? (file, lane) => word(file, lane) >>> 0 : word;
  if (isSigned) return (file, lane) => (word(file, lane) << (32 - bits)) >> (32 - bits);
  return (file, lane) => word(file, lane) & ((1 << bits) - 1);
}

/** Writes a register by kind: integers wrap, and fill a wider register by their sign; NaN results are the card's own. */
export function registerWriter(register: number, registerType: ScalarType, kind: ValueKind): RegisterWriter {
  const base = register * lanesPerWarp;
  if (kind === 'f32') {
    return (file, lane, value) => {
      if (value !== value) file.words[2 * (base + lane)] = canonicalNan32;
      else file.singles[2 * (base + lane)] = value as number;
    };
  }
  if (kind === 'f64') {
    return (file, lane, value) => {
      if (value !== value) file.longs[base + lane] = 0xfff8000000000000n;
      else file.doubles[base + lane] = value as number;
    };
  }
  const bits = typeBits(kind);
  const isSigned = isSignedType(kind);
  if (typeBits(registerType) === 64) {
    return (file, lane, value) => {
      const own = isSigned ? BigInt.asIntN(bits, BigInt(value)) : BigInt.asUintN(bits, BigInt(value));
      file.longs[base + lane] = BigInt.asUintN(64, own);
    };
  }
  const mask = typeBits(registerType) === 32 ? -1 : (1 << typeBits(registerType)) - 1;
  const wrap = wrapper(bits, isSigned);
  return (file, lane, value) => {
    file.words[2 * (base + lane)] = wrap(Number(value)) & mask;
  };
}

function wrapper(bits: number, isSigned: boolean): (value: number) => number {
  if (bits >= 32) return (value) => value | 0;
  if (isSigned) return (value) => (value << (32 - bits)) >> (32 - bits);
  return (value) => value & ((1 << bits) - 1);
}
