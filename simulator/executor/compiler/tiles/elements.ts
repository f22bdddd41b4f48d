import type { FunctionBuilder } from '../../../wasm/index.js';
import {
  elementBits,
  floatFormat,
  operandWords,
  type ElementType,
  type Operand,
  type TileForm,
} from '../../../tensor/index.js';
import { linearIndex, pushIndex, repeat } from './linearIndex.js';

/** Parameters of every tile function: addresses of a warp's words, of those that it leaves, and of its scratch. */
export const WORDS = 0;
export const RESULT = 1;
export const SCRATCH = 2;

/** Bytes before the words of A, B, C and metadata. */
export function wordOffsets(form: TileForm): Readonly<Record<'a' | 'b' | 'c' | 'metadata', number>> {
  const [a, b, c] = [form.a, form.b, form.c].map((operand) => 4 * operandWords(operand));
  return { a: 0, b: a ?? 0, c: (a ?? 0) + (b ?? 0), metadata: (a ?? 0) + (b ?? 0) + (c ?? 0) };
}

/** Where an element lies in a room of the scratch, by its place in the matrix. */
type Place = (element: number) => number;

const identity: Place = (element) => element;

/** Runs `body` for each element of an operand with its stored bits (of 64 its word's address) and its place in two locals. */
export function eachElement(
  f: FunctionBuilder,
  operand: Operand,
  offset: number,
  body: (bits: number, at: number) => void,
  place: Place = identity,
): void {
  const { slots, map, units } = operand;
  const [index, bits, at] = [f.local('i32'), f.local('i32'), f.local('i32')];
  const places = linearIndex(Array.from(map, place));
  const size = elementBits(operand.type);
  repeat(f, index, units * slots, () => {
    f.get(WORDS).get(index);
    if (slots > 1) f.i32(Math.log2(slots)).op('i32ShrU');
    f.i32(size === 64 ? 3 : 2)
      .op('i32Shl')
      .op('i32Add');
    if (size === 64) f.i32(offset).op('i32Add');
    else f.memory('i32Load', offset);
    if (slots > 1) {
      f.get(index)
        .i32(slots - 1)
        .op('i32And')
        .i32(size)
        .op('i32Mul')
        .op('i32ShrU');
      f.i32(2 ** size - 1).op('i32And');
    }
    f.set(bits);
    pushIndex(f, index, places);
    f.set(at);
    body(bits, at);
  });
}

/** Writes D: an i32 of its stored bits lies for each element at `offset` of the scratch. */
export function writeResult(f: FunctionBuilder, operand: Operand, offset: number): void {
  const { slots, map, units } = operand;
  const [unit, word] = [f.local('i32'), f.local('i32')];
  const size = elementBits(operand.type);
  const first = linearIndex(Array.from({ length: units }, (_, at) => map[at * slots] ?? 0));
  repeat(f, unit, units, () => {
    pushIndex(f, unit, first);
    f.i32(2).op('i32Shl').get(SCRATCH).op('i32Add').set(word);
    f.get(RESULT).get(unit).i32(2).op('i32Shl').op('i32Add');
    for (let slot = 0; slot < slots; slot++) {
      f.get(word).memory('i32Load', offset + 4 * (map[slot] ?? 0));
      if (slot > 0)
        f.i32(slot * size)
          .op('i32Shl')
          .op('i32Or');
    }
    f.memory('i32Store', 0);
  });
}

/** Pushes 2 to the power of an i32 in a local plus a constant, as f64; the sum is a normal number's exponent. */
export function pushPower(f: FunctionBuilder, exponent: number, added: number): void {
  f.get(exponent)
    .i32(added + 1023)
    .op('i32Add')
    .op('i64ExtendI32U')
    .i64(52)
    .op('i64Shl');
  f.op('f64ReinterpretI64');
}

/** Reads narrow floats: exact values, and exponents of the significand's first place. */
export class FloatReader {
  private readonly field: number;
  private readonly fraction: number;
  readonly exponent: number;
  readonly value: number;

  constructor(private readonly f: FunctionBuilder) {
    this.field = f.local('i32');
    this.fraction = f.local('i32');
    this.exponent = f.local('i32');
    this.value = f.local('f64');
  }

  /** Leaves in `value` and `exponent` what the bits in a local are. An eighth has the exponent of the half that it is made first. */
  read(type: ElementType, bits: number): void {
    const { f, field, fraction, exponent, value } = this;
    const format = floatFormat(type);
    if (format === undefined || type === 'f64') throw new RangeError(`${type} is no narrow float`);
    const { exponentBits, fractionBits, bias, paddingBits, hasInfinity } = format;
    const top = 2 ** exponentBits - 1;
    const ones = 2 ** fractionBits - 1;
    f.get(bits)
      .i32(paddingBits + fractionBits)
      .op('i32ShrU')
      .i32(top)
      .op('i32And')
      .set(field);
    f.get(bits).i32(paddingBits).op('i32ShrU').i32(ones).op('i32And').set(fraction);
    f.get(field).i32(1).get(field).op('select').i32(bias).op('i32Sub').set(exponent);
    f.get(fraction)
      .i32(ones + 1)
      .i32(0)
      .get(field)
      .op('select')
      .op('i32Or')
      .op('f64ConvertI32U');
    pushPower(f, exponent, -fractionBits);
    f.op('f64Mul').set(value);
    f.get(field).i32(top).op('i32Eq');
    if (!hasInfinity) f.get(fraction).i32(ones).op('i32Eq').op('i32And');
    f.if();
    f.f64(NaN);
    if (hasInfinity) f.f64(Infinity).get(fraction).op('select');
    f.set(value).end();
    f.get(bits).i32(31 - paddingBits - fractionBits - exponentBits);
    f.op('i32Shl').i32(0).op('i32LtS').if();
    f.get(value).op('f64Neg').set(value).end();
    // Subnormal e4m3 are normal halves.
    if (type === 'e4m3') {
      f.get(field).op('i32Eqz').get(fraction).i32(0).op('i32Ne').op('i32And').if();
      pushLeadingExponent(f, value);
      f.set(exponent).end();
    }
  }
}

/** Pushes the exponent of a normal double in a local. */
export function pushLeadingExponent(f: FunctionBuilder, value: number): void {
  f.get(value).op('i64ReinterpretF64').i64(52).op('i64ShrU').op('i32WrapI64').i32(0x7ff).op('i32And');
  f.i32(1023).op('i32Sub');
}
