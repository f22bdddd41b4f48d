import { isSignedType, typeBits, type IrInstruction } from '../../../../ptx/index.js';
import { lastType, immediateOf } from '../../instructions/index.js';
import type { VectorEmitter } from '../operands/index.js';
import { elementwise, isWide, joinWords, keep, pushWord } from './parts.js';
import { pushPowers } from './logic.js';

/** Integer instructions that CUDA's compiler writes for intrinsics: dot products, funnels, permutes, saturation. */

/** `dp4a`: c plus the products of four bytes. */
function dotBytes(instruction: IrInstruction): VectorEmitter {
  const [left, right] = instruction.types.map((type) => (isSignedType(type) ? 'S' : 'U'));
  return (v) => {
    const { f } = v;
    const [first, second, addend] = instruction.sources;
    for (let group = 0; group < v.groups; group++) {
      v.use(first, 'b32', group);
      const a = keep(v, 'a');
      v.use(second, 'b32', group);
      const b = keep(v, 'b');
      // Two sums of two products a lane, those of the lower two lanes first.
      for (const [part, local] of [
        ['Low', 'lower'],
        ['High', 'upper'],
      ] as const) {
        f.get(a).simd(`i16x8Extend${part}I8x16${left ?? 'S'}`);
        f.get(b).simd(`i16x8Extend${part}I8x16${right ?? 'S'}`);
        f.simd('i32x4DotI16x8S').set(v.temporary(local, 'v128'));
      }
      for (const which of ['lower', 'upper'] as const) {
        f.get(v.temporary('lower', 'v128')).get(v.temporary('upper', 'v128'));
        joinWords(v, which);
      }
      f.simd('i32x4Add');
      v.use(addend, 'b32', group);
      f.simd('i32x4Add');
      v.assign(instruction.destinations[0], 'b32', group);
    }
  };
}

/** `dp2a`: c plus the products of a's half-words with two of b's bytes. */
function dotHalves(instruction: IrInstruction): VectorEmitter {
  const [left, right] = instruction.types.map((type) => (isSignedType(type) ? 'S' : 'U'));
  const firstByte = instruction.modifiers.includes('hi') ? 2 : 0;
  return (v) => {
    const { f } = v;
    const [first, second, addend] = instruction.sources;
    for (let group = 0; group < v.groups; group++) {
      v.use(first, 'b32', group);
      const a = keep(v, 'a');
      v.use(second, 'b32', group);
      const b = keep(v, 'b');
      v.use(addend, 'b32', group);
      for (const index of [0, 1]) {
        f.get(a);
        if (index === 0) f.i32(16).simd('i32x4Shl');
        f.i32(16).simd(`i32x4Shr${left === 'U' ? 'U' : 'S'}`);
        const byte = firstByte + index;
        f.get(b);
        if (byte < 3) f.i32(24 - 8 * byte).simd('i32x4Shl');
        f.i32(24).simd(`i32x4Shr${right === 'U' ? 'U' : 'S'}`);
        f.simd('i32x4Mul').simd('i32x4Add');
      }
      v.assign(instruction.destinations[0], 'b32', group);
    }
  };
}

/** `shf` by counts that differ: high:low times a power of two; to the right is to the left by what is left of 32. */
function funnelShift(instruction: IrInstruction): VectorEmitter {
  const isLeft = instruction.modifiers.includes('l');
  const clamps = instruction.modifiers.includes('clamp');
  return (v) => {
    const { f } = v;
    const [low, high, counts] = instruction.sources;
    for (let group = 0; group < v.groups; group++) {
      v.use(counts, 'b32', group);
      pushWord(v, clamps ? 32 : 31);
      f.simd(clamps ? 'i32x4MinU' : 'v128And');
      const count = keep(v, 'counts');
      if (!isLeft) {
        pushWord(v, 32);
        f.get(count).simd('i32x4Sub').set(count);
      }
      v.use(low, 'b32', group);
      const lower = keep(v, 'a');
      v.use(high, 'b32', group);
      const upper = keep(v, 'b');
      pushPowers(v, count);
      const power = keep(v, 'power');
      f.get(lower);
      for (const part of ['Low', 'High'] as const) f.get(lower).get(power).simd(`i64x2Extmul${part}I32x4U`);
      joinWords(v, 'upper');
      f.get(upper).get(power).simd('i32x4Mul').simd('v128Or').get(count);
      pushWord(v, 32);
      f.simd('i32x4Eq').simd('v128Bitselect');
      v.assign(instruction.destinations[0], 'b32', group);
    }
  };
}

/** `prmt` by selectors in registers, in the mode that names each byte: one nibble a byte. */
const permuteBytes: VectorEmitter = (v, instruction) => {
  const { f } = v;
  const [low, high, selector] = instruction.sources;
  for (let group = 0; group < v.groups; group++) {
    // Nibbles spread over bytes.
    v.use(selector, 'b32', group);
    pushWord(v, 0xffff);
    f.simd('v128And');
    for (const [distance, mask] of [
      [8, 0x00ff00ff],
      [4, 0x0f0f0f0f],
    ] as const) {
      const spread = v.temporary('picks', 'v128');
      f.tee(spread).get(spread).i32(distance).simd('i32x4Shl').simd('v128Or');
      pushWord(v, mask);
      f.simd('v128And');
    }
    const picks = keep(v, 'picks');
    f.get(picks);
    pushWord(v, 0x03030303);
    f.simd('v128And').v128(0, 0x04040404, 0x08080808, 0x0c0c0c0c).simd('v128Or');
    const index = keep(v, 'index');
    // An index beyond the vector gives zero, so that one of two lookups is left.
    for (const [operand, chosen] of [
      [low, 0],
      [high, 0x40404040],
    ] as const) {
      v.use(operand, 'b32', group);
      f.get(picks);
      pushWord(v, 0x04040404);
      f.simd('v128And').i32(4).simd('i32x4Shl');
      pushWord(v, chosen);
      f.simd('v128Xor').get(index).simd('v128Or').simd('i8x16Swizzle');
    }
    const bytes = v.temporary('bytes', 'v128');
    f.simd('v128Or').tee(bytes).i32(7).simd('i8x16ShrS').get(bytes);
    f.get(picks).i32(4).simd('i8x16Shl').i32(7).simd('i8x16ShrS').simd('v128Bitselect');
    v.assign(instruction.destinations[0], 'b32', group);
  }
};

/** `add.sat.s32` and `sub.sat.s32`: what overflows is the greatest or least number, by the first operand's sign. */
function saturating(what: 'Add' | 'Sub'): VectorEmitter {
  return (v, instruction) => {
    const { f } = v;
    elementwise(v, instruction, 's32', () => {
      const b = keep(v, 'b');
      const a = keep(v, 'a');
      const sum = v.temporary('sum', 'v128');
      f.get(a).i32(31).simd('i32x4ShrS');
      pushWord(v, 0x7fffffff);
      f.simd('v128Xor').get(a).get(b).simd(`i32x4${what}`).tee(sum);
      // A sum overflows where its sign is neither operand's; a difference where operands differ and it is not the first's.
      f.get(a)
        .get(sum)
        .simd('v128Xor')
        .get(what === 'Add' ? b : a)
        .get(what === 'Add' ? sum : b);
      f.simd('v128Xor').simd('v128And').i32(31).simd('i32x4ShrS').simd('v128Bitselect');
    });
  };
}

/** `min.relu.s32` and `max.relu.s32`. */
function rectified(what: 'Min' | 'Max'): VectorEmitter {
  return (v, instruction) => {
    elementwise(v, instruction, 's32', () => v.f.simd(`i32x4${what}S`).v128(0, 0, 0, 0).simd('i32x4MaxS'));
  };
}

/** `mul24` and `mad24`: of factors of 24 bits the lower 32 bits, or those from 16 up. */
function product24(instruction: IrInstruction): VectorEmitter {
  const isSigned = isSignedType(lastType(instruction));
  const isHigh = instruction.modifiers.includes('hi');
  return (v) => {
    const { f } = v;
    for (let group = 0; group < v.groups; group++) {
      const [a, b] = ['a', 'b'].map((name, index) => {
        v.use(instruction.sources[index], 'b32', group);
        f.i32(8)
          .simd('i32x4Shl')
          .i32(8)
          .simd(isSigned ? 'i32x4ShrS' : 'i32x4ShrU');
        return keep(v, name);
      }) as [number, number];
      if (isHigh) {
        for (const part of ['Low', 'High'] as const)
          f.get(a)
            .get(b)
            .simd(`i64x2Extmul${part}I32x4${isSigned ? 'S' : 'U'}`)
            .i32(16)
            .simd('i64x2ShrU');
        joinWords(v, 'lower');
      } else f.get(a).get(b).simd('i32x4Mul');
      if (instruction.opcode === 'mad24') {
        v.use(instruction.sources[2], 'b32', group);
        f.simd('i32x4Add');
      }
      v.assign(instruction.destinations[0], 'b32', group);
    }
  };
}

function saturatingForm({ opcode, types, modifiers }: IrInstruction): VectorEmitter | undefined {
  if (types.at(-1) !== 's32') return undefined;
  if (modifiers.includes('sat')) {
    if (opcode === 'add') return saturating('Add');
    return opcode === 'sub' ? saturating('Sub') : undefined;
  }
  if (opcode === 'min') return rectified('Min');
  return opcode === 'max' ? rectified('Max') : undefined;
}

export function rareIntegerVector(instruction: IrInstruction): VectorEmitter | undefined {
  const { opcode, modifiers, sources } = instruction;
  const isPlain = !modifiers.includes('sat') && !modifiers.includes('relu');
  if (!isPlain) return saturatingForm(instruction);
  switch (opcode) {
    case 'dp4a':
      return dotBytes(instruction);
    case 'dp2a':
      return dotHalves(instruction);
    case 'shf':
      return immediateOf(sources[2]) === undefined ? funnelShift(instruction) : undefined;
    case 'prmt':
      return modifiers.every((each) => each === 'b32') ? permuteBytes : undefined;
    case 'mul24':
    case 'mad24':
      return isWide(lastType(instruction)) || typeBits(lastType(instruction)) < 32
        ? undefined
        : product24(instruction);
    default:
      return undefined;
  }
}
