import { isSignedType, typeBits, type IrInstruction } from '../../../../ptx/index.js';
import { lastType, immediateOf } from '../../instructions/index.js';
import type { VectorEmitter, VectorOperands } from '../operands/index.js';
import { eachPart, elementwise, isWide, joinWords, keep, lanesOf, pushWord, simdName } from './parts.js';

/** Predicates are masks, so that they need no care of their own. */
function bitwise(name: 'And' | 'Or' | 'Xor'): VectorEmitter {
  return (v, instruction) => {
    elementwise(v, instruction, lastType(instruction), () => v.f.simd(`v128${name}`));
  };
}

const complement: VectorEmitter = (v, instruction) => {
  elementwise(v, instruction, lastType(instruction), () => v.f.simd('v128Not'));
};

/** `cnot`: 1 where all bits are clear. */
const logicalNot: VectorEmitter = (v, instruction) => {
  const type = lastType(instruction);
  elementwise(v, instruction, type, () => {
    v.f.v128(0, 0, 0, 0).simd(simdName(lanesOf(type), 'Eq'));
    if (isWide(type)) v.f.v128(1, 0, 1, 0);
    else pushWord(v, 1);
    v.f.simd('v128And');
  });
};

/** Pushes a function of b and c by its truth table: bit 2 · b + c. */
function pushPair(v: VectorOperands, table: number, b: number, c: number): void {
  const { f } = v;
  // Of a table with the last bit set, the opposite.
  const isOpposite = table >= 8;
  let isInverted = isOpposite;
  switch (isOpposite ? table ^ 15 : table) {
    case 0:
      f.v128(0, 0, 0, 0);
      break;
    case 1:
      f.get(b).get(c).simd('v128Or');
      isInverted = !isInverted;
      break;
    case 2:
      f.get(c).get(b).simd('v128AndNot');
      break;
    case 3:
      f.get(b);
      isInverted = !isInverted;
      break;
    case 4:
      f.get(b).get(c).simd('v128AndNot');
      break;
    case 5:
      f.get(c);
      isInverted = !isInverted;
      break;
    case 6:
      f.get(b).get(c).simd('v128Xor');
      break;
    default:
      f.get(b).get(c).simd('v128And');
      isInverted = !isInverted;
  }
  if (isInverted) f.simd('v128Not');
}

/** `lop3` by its table: bit 4 · a + 2 · b + c is the result. Split by a, each half is a function of b and c. */
const logic3: VectorEmitter = (v, instruction) => {
  const { f } = v;
  const table = immediateOf(instruction.sources[3]) ?? 0;
  const [low, high] = [table & 15, (table >> 4) & 15];
  for (let group = 0; group < v.groups; group++) {
    const [a, b, c] = ['a', 'b', 'c'].map((name, index) => {
      v.use(instruction.sources[index], 'b32', group);
      return keep(v, name);
    }) as [number, number, number];
    const push = (part: number): void => {
      pushPair(v, part, b, c);
    };
    if (low === high) push(low);
    else if (low === 0) {
      push(high);
      f.get(a).simd('v128And');
    } else if (high === 0) {
      push(low);
      f.get(a).simd('v128AndNot');
    } else if (low === 15) {
      push(high ^ 15);
      f.get(a).simd('v128And').simd('v128Not');
    } else if (high === 15) {
      push(low);
      f.get(a).simd('v128Or');
    } else if (low === (high ^ 15)) {
      push(low);
      f.get(a).simd('v128Xor');
    } else {
      push(high);
      push(low);
      f.get(a).simd('v128Bitselect');
    }
    v.assign(instruction.destinations[0], 'b32', group);
  }
};

/** Pushes a count that is the same in all lanes, kept below the width where shifting by more changes nothing. */
function shiftUniformly(v: VectorOperands, instruction: IrInstruction, direction: 'left' | 'right'): void {
  const { f } = v;
  const type = lastType(instruction);
  const bits = typeBits(type);
  const isArithmetic = direction === 'right' && isSignedType(type);
  const name = simdName(lanesOf(type), direction === 'left' ? 'Shl' : isArithmetic ? 'ShrS' : 'ShrU');
  const constant = immediateOf(instruction.sources[1]);
  const [source, countOperand] = instruction.sources;
  const count = v.temporary('count', 'i32');
  const within = v.temporary('within', 'v128');
  if (constant === undefined) {
    v.scalar.use(countOperand, 'u32');
    f.set(count);
    if (isArithmetic)
      f.get(count)
        .i32(bits - 1)
        .get(count)
        .i32(bits)
        .op('i32LtU')
        .op('select')
        .set(count);
    else f.i32(0).get(count).i32(bits).op('i32LtU').op('i32Sub').simd('i32x4Splat').set(within);
  }
  eachPart(v, type, (group, half) => {
    if (constant !== undefined && constant >>> 0 >= bits && !isArithmetic) {
      f.v128(0, 0, 0, 0);
    } else {
      v.use(source, type, group, half);
      if (constant !== undefined) f.i32(Math.min(constant >>> 0, bits - 1)).simd(name);
      else f.get(count).simd(name);
      if (constant === undefined && !isArithmetic) f.get(within).simd('v128And');
    }
    v.assign(instruction.destinations[0], type, group, half);
  });
}

/** Pushes 2^x of words x below 32 by way of a float's exponent; others give anything. */
export function pushPowers(v: VectorOperands, words: number): void {
  v.f.get(words);
  pushWord(v, 127);
  v.f.simd('i32x4Add').i32(23).simd('i32x4Shl').simd('i32x4TruncSatF32x4U');
}

/** Counts that differ: WebAssembly shifts all lanes alike, so that powers of two are multiplied by instead. */
function shiftEach(v: VectorOperands, instruction: IrInstruction, direction: 'left' | 'right'): void {
  const { f } = v;
  const type = lastType(instruction);
  const bits = typeBits(type);
  const isArithmetic = direction === 'right' && isSignedType(type);
  for (let group = 0; group < v.groups; group++) {
    v.use(instruction.sources[1], 'u32', group);
    if (isArithmetic) {
      pushWord(v, bits - 1);
      f.simd('i32x4MinU');
    }
    const count = keep(v, 'counts');
    v.use(instruction.sources[0], type, group);
    if (direction === 'left') {
      pushPowers(v, count);
      f.simd('i32x4Mul');
    } else {
      const value = keep(v, 'a');
      const sign = v.temporary('sign', 'v128');
      if (isArithmetic)
        f.get(value).i32(31).simd('i32x4ShrS').tee(sign).get(value).simd('v128Xor').set(value);
      // A right shift is the product with 2^(31 − count) without its 31 lower bits.
      pushWord(v, 31);
      f.get(count).simd('i32x4Sub').set(v.temporary('left', 'v128'));
      pushPowers(v, v.temporary('left', 'v128'));
      const power = keep(v, 'power');
      for (const which of ['Low', 'High'] as const)
        f.get(value).get(power).simd(`i64x2Extmul${which}I32x4U`).i32(31).simd('i64x2ShrU');
      joinWords(v, 'lower');
      if (isArithmetic) f.get(sign).simd('v128Xor');
    }
    if (!isArithmetic) {
      f.get(count);
      pushWord(v, bits);
      f.simd('i32x4LtU').simd('v128And');
    }
    v.assign(instruction.destinations[0], type, group);
  }
}

function shift(direction: 'left' | 'right'): VectorEmitter {
  return (v, instruction) => {
    if (v.shapeOf(instruction.sources[1]).kind === 'uniform') shiftUniformly(v, instruction, direction);
    else if (isWide(lastType(instruction))) shiftLanes(v, instruction, direction);
    else shiftEach(v, instruction, direction);
  };
}

/** Wide lanes with counts that differ are shifted one by one. */
function shiftLanes(v: VectorOperands, instruction: IrInstruction, direction: 'left' | 'right'): void {
  const { f } = v;
  const type = lastType(instruction);
  const isArithmetic = direction === 'right' && isSignedType(type);
  const name = direction === 'left' ? 'i64x2Shl' : isArithmetic ? 'i64x2ShrS' : 'i64x2ShrU';
  eachPart(v, type, (group, half) => {
    v.use(instruction.sources[1], 'u32', group);
    const counts = keep(v, 'counts');
    v.use(instruction.sources[0], type, group, half);
    const value = keep(v, 'a');
    for (const lane of [0, 1]) {
      const at = 2 * half + lane;
      f.get(value).get(counts);
      if (isArithmetic) {
        pushWord(v, 63);
        f.simd('i32x4MinU');
      }
      f.simdLane('i32x4ExtractLane', at).simd(name);
    }
    f.shuffleWords(0, 1, 6, 7);
    if (!isArithmetic) {
      f.get(counts);
      pushWord(v, 64);
      f.simd('i32x4LtU')
        .simd(half === 0 ? 'i64x2ExtendLowI32x4S' : 'i64x2ExtendHighI32x4S')
        .simd('v128And');
    }
    v.assign(instruction.destinations[0], type, group, half);
  });
}

/** `shf`: the upper word of high:low shifted left, or the lower word of it shifted right, by a constant. */
function funnelShift(instruction: IrInstruction): VectorEmitter | undefined {
  const constant = immediateOf(instruction.sources[2]);
  if (constant === undefined) return undefined;
  const isLeft = instruction.modifiers.includes('l');
  const count = instruction.modifiers.includes('clamp') ? Math.min(constant >>> 0, 32) : constant & 31;
  return (v) => {
    const { f } = v;
    const [low, high] = instruction.sources;
    for (let group = 0; group < v.groups; group++) {
      if (count === 0 || count === 32) v.use((count === 0) === isLeft ? high : low, 'b32', group);
      else {
        v.use(high, 'b32', group);
        f.i32(isLeft ? count : 32 - count).simd('i32x4Shl');
        v.use(low, 'b32', group);
        f.i32(isLeft ? 32 - count : count)
          .simd('i32x4ShrU')
          .simd('v128Or');
      }
      v.assign(instruction.destinations[0], 'b32', group);
    }
  };
}

export function logicVector(instruction: IrInstruction): VectorEmitter | undefined {
  switch (instruction.opcode) {
    case 'and':
      return bitwise('And');
    case 'or':
      return bitwise('Or');
    case 'xor':
      return bitwise('Xor');
    case 'not':
      return complement;
    case 'cnot':
      return logicalNot;
    case 'lop3': {
      const { sources } = instruction;
      return sources.length === 4 && immediateOf(sources[3]) !== undefined ? logic3 : undefined;
    }
    case 'shl':
      return shift('left');
    case 'shr':
      return shift('right');
    case 'shf':
      return funnelShift(instruction);
    default:
      return undefined;
  }
}
