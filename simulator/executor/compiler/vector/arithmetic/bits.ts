import { isSignedType, typeBits, type IrInstruction } from '../../../../ptx/index.js';
import { lastType, immediateOf } from '../../instructions/index.js';
import type { VectorEmitter, VectorOperands } from '../operands/index.js';
import { eachPart, elementwise, isWide, joinWords, keep, lanesOf, pushWord, simdName } from './parts.js';

/** Makes 32-bit lanes on the stack the number of bits set in them. */
function countBits(v: VectorOperands): void {
  v.f.simd('i8x16Popcnt').simd('i16x8ExtaddPairwiseI8x16U').simd('i32x4ExtaddPairwiseI16x8U');
}

const populationCount: VectorEmitter = (v, instruction) => {
  const { f } = v;
  const type = lastType(instruction);
  const [source] = instruction.sources;
  for (let group = 0; group < v.groups; group++) {
    v.use(source, type, group);
    countBits(v);
    if (isWide(type)) {
      v.use(source, type, group, 1);
      countBits(v);
      const upper = keep(v, 'b');
      const lower = keep(v, 'a');
      f.get(lower).get(upper);
      joinWords(v, 'lower');
      f.get(lower).get(upper);
      joinWords(v, 'upper');
      f.simd('i32x4Add');
    }
    v.assign(instruction.destinations[0], 'u32', group);
  }
};

/** Leaves a float's exponent field: 127 and the position of the highest bit of each lane, or 0. */
function pushExponents(v: VectorOperands): void {
  const { f } = v;
  const value = v.temporary('a', 'v128');
  // Without the bit below the highest one, rounding cannot reach the next power of two.
  f.tee(value).get(value).i32(1).simd('i32x4ShrU').simd('v128AndNot');
  f.simd('f32x4ConvertI32x4U').i32(23).simd('i32x4ShrU');
}

/** Leaves the number of zeros above the highest bit. */
function leadingZeros(v: VectorOperands): void {
  const { f } = v;
  pushExponents(v);
  const exponents = keep(v, 'exponents');
  pushWord(v, 158);
  f.get(exponents).simd('i32x4Sub');
  pushWord(v, 32);
  f.simd('i32x4MinU');
}

const countLeadingZeros: VectorEmitter = (v, instruction) => {
  for (let group = 0; group < v.groups; group++) {
    v.use(instruction.sources[0], 'b32', group);
    leadingZeros(v);
    v.assign(instruction.destinations[0], 'u32', group);
  }
};

const findHighest: VectorEmitter = (v, instruction) => {
  const { f } = v;
  const type = lastType(instruction);
  for (let group = 0; group < v.groups; group++) {
    v.use(instruction.sources[0], type, group);
    if (isSignedType(type)) {
      const value = keep(v, 'b');
      f.get(value).get(value).i32(31).simd('i32x4ShrS').simd('v128Xor');
    }
    if (instruction.modifiers.includes('shiftamt')) {
      leadingZeros(v);
      const zeros = keep(v, 'b');
      f.get(zeros).get(zeros);
      pushWord(v, 32);
      f.simd('i32x4Eq').simd('v128Or');
    } else {
      pushExponents(v);
      pushWord(v, 127);
      f.simd('i32x4Sub');
      pushWord(v, -1);
      f.simd('i32x4MaxS');
    }
    v.assign(instruction.destinations[0], 'u32', group);
  }
};

/** The bits of each half byte in reverse, in the lower and in the upper half of a byte. */
const REVERSED = [0x0c040800, 0x0e060a02, 0x0d050901, 0x0f070b03] as const;

const reverse: VectorEmitter = (v, instruction) => {
  const { f } = v;
  const type = lastType(instruction);
  const bytes = typeBits(type) / 8;
  const order = Array.from({ length: 16 }, (_, at) => at - (at % bytes) + bytes - 1 - (at % bytes));
  elementwise(v, instruction, type, () => {
    const value = v.temporary('a', 'v128');
    f.tee(value).get(value).shuffle(order).set(value);
    f.v128(...REVERSED).get(value);
    pushWord(v, 0x0f0f0f0f);
    f.simd('v128And').simd('i8x16Swizzle').i32(4).simd('i8x16Shl');
    f.v128(...REVERSED)
      .get(value)
      .i32(4)
      .simd('i8x16ShrU')
      .simd('i8x16Swizzle')
      .simd('v128Or');
  });
};

/** `bfe` of a field that the text names: shifted to the upper end and back. */
function extractField(instruction: IrInstruction): VectorEmitter | undefined {
  const [source, position, length] = instruction.sources;
  const [first, second] = [immediateOf(position), immediateOf(length)];
  if (first === undefined || second === undefined) return undefined;
  const type = lastType(instruction);
  const bits = typeBits(type);
  const isSigned = isSignedType(type);
  const [from, count] = [first & 0xff, second & 0xff];
  return (v) => {
    const { f } = v;
    eachPart(v, type, (group, half) => {
      if (count === 0 || (from >= bits && !isSigned)) f.v128(0, 0, 0, 0);
      else {
        const kept = Math.min(count, bits - from);
        v.use(source, type, group, half);
        if (kept > 0) f.i32(bits - from - kept).simd(simdName(lanesOf(type), 'Shl'));
        f.i32(kept > 0 ? bits - kept : bits - 1).simd(simdName(lanesOf(type), isSigned ? 'ShrS' : 'ShrU'));
      }
      v.assign(instruction.destinations[0], type, group, half);
    });
  };
}

/** `bfi` into a field that the text names. */
function insertField(instruction: IrInstruction): VectorEmitter | undefined {
  const [field, whole, position, length] = instruction.sources;
  const [first, second] = [immediateOf(position), immediateOf(length)];
  if (first === undefined || second === undefined) return undefined;
  const type = lastType(instruction);
  const bits = typeBits(type);
  const [from, count] = [first & 0xff, Math.min(second & 0xff, bits)];
  return (v) => {
    const { f } = v;
    eachPart(v, type, (group, half) => {
      if (from >= bits || count === 0) v.use(whole, type, group, half);
      else {
        const mask = BigInt.asUintN(bits, ((1n << BigInt(count)) - 1n) << BigInt(from));
        const low = Number(BigInt.asIntN(32, mask));
        const high = bits === 64 ? Number(BigInt.asIntN(32, mask >> 32n)) : low;
        v.use(field, type, group, half);
        f.i32(from).simd(simdName(lanesOf(type), 'Shl'));
        v.use(whole, type, group, half);
        f.v128(low, high, low, high).simd('v128Bitselect');
      }
      v.assign(instruction.destinations[0], type, group, half);
    });
  };
}

/** `prmt` by a selector in the text that names bytes alone, without spreading their signs. */
function permuteBytes(instruction: IrInstruction): VectorEmitter | undefined {
  const [low, high, selector] = instruction.sources;
  const picks = immediateOf(selector);
  const isPlain = !instruction.modifiers.some((each) => each !== 'b32');
  if (picks === undefined || !isPlain || (picks & 0x8888) !== 0) return undefined;
  const order = Array.from({ length: 16 }, (_, at) => {
    const pick = (picks >>> (4 * (at % 4))) & 7;
    return (pick < 4 ? 0 : 12) + at - (at % 4) + pick;
  });
  return (v) => {
    for (let group = 0; group < v.groups; group++) {
      v.use(low, 'b32', group);
      v.use(high, 'b32', group);
      v.f.shuffle(order);
      v.assign(instruction.destinations[0], 'b32', group);
    }
  };
}

export function bitVector(instruction: IrInstruction): VectorEmitter | undefined {
  const wide = isWide(lastType(instruction));
  switch (instruction.opcode) {
    case 'popc':
      return populationCount;
    case 'clz':
      return wide ? undefined : countLeadingZeros;
    case 'bfind':
      return wide ? undefined : findHighest;
    case 'brev':
      return reverse;
    case 'bfe':
      return extractField(instruction);
    case 'bfi':
      return insertField(instruction);
    case 'prmt':
      return permuteBytes(instruction);
    default:
      return undefined;
  }
}
