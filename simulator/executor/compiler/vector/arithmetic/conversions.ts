import {
  isFloatType,
  isSignedType,
  typeBits,
  type IrInstruction,
  type ScalarType,
} from '../../../../ptx/index.js';
import { directedMode } from '../../scalar/index.js';
import { lastType } from '../../instructions/index.js';
import type { VectorEmitter, VectorOperands } from '../operands/index.js';
import { flush, saturate } from './floatOperands.js';
import {
  eachPart,
  isWide,
  joinHalves,
  joinWords,
  keep,
  pushDouble,
  pushLong,
  pushWord,
  takeHalf,
  type Half,
} from './parts.js';

function has(instruction: IrInstruction, modifier: string): boolean {
  return instruction.modifiers.includes(modifier);
}

function isInteger(type: ScalarType): boolean {
  return /^[bsu](?:8|16|32|64)$/.test(type);
}

function targetOf(instruction: IrInstruction): ScalarType {
  return instruction.types[0] ?? 'b32';
}

/** A value's own sign extends it; the target's type then says how far it is kept. */
const integers: VectorEmitter = (v, instruction) => {
  const { f } = v;
  const to = targetOf(instruction);
  const from = lastType(instruction);
  const [source] = instruction.sources;
  const sign = isSignedType(from) ? 'S' : 'U';
  eachPart(v, to, (group, half) => {
    if (isWide(to) === isWide(from)) v.use(source, from, group, half);
    else if (isWide(to)) {
      v.use(source, from, group);
      f.simd(`i64x2Extend${half === 0 ? 'Low' : 'High'}I32x4${sign}`);
    } else {
      v.use(source, from, group, 0);
      v.use(source, from, group, 1);
      joinWords(v, 'lower');
    }
    v.assign(instruction.destinations[0], to, group, half);
  });
};

/** `.sat` among types that lie in 32 bits: clamped to the target's range. */
const clampedIntegers: VectorEmitter = (v, instruction) => {
  const { f } = v;
  const to = targetOf(instruction);
  const from = lastType(instruction);
  const isFromSigned = isSignedType(from);
  for (let group = 0; group < v.groups; group++) {
    v.use(instruction.sources[0], from, group);
    const bits = typeBits(to);
    if (isFromSigned) {
      pushWord(v, isSignedType(to) ? -(2 ** (bits - 1)) : 0);
      f.simd('i32x4MaxS');
    }
    if (!isFromSigned || bits < 32) {
      pushWord(v, isSignedType(to) ? 2 ** (bits - 1) - 1 : 2 ** bits - 1);
      f.simd(isFromSigned ? 'i32x4MinS' : 'i32x4MinU');
    }
    v.assign(instruction.destinations[0], to, group);
  }
};

const roundings = { rni: 'Nearest', rzi: 'Trunc', rmi: 'Floor', rpi: 'Ceil' } as const;

/** Rounds what is on the stack to integral values, as `.rni .rzi .rmi .rpi` say. */
function roundIntegral(v: VectorOperands, instruction: IrInstruction, lanes: 'f32x4' | 'f64x2'): void {
  for (const name of ['rni', 'rzi', 'rmi', 'rpi'] as const)
    if (has(instruction, name)) v.f.simd(`${lanes}${roundings[name]}`);
}

function isIntegral(instruction: IrInstruction): boolean {
  return ['rni', 'rzi', 'rmi', 'rpi'].some((name) => has(instruction, name));
}

/** Of integers that lie in 32 bits: exact in a double. */
const fromIntegers: VectorEmitter = (v, instruction) => {
  const { f } = v;
  const to = targetOf(instruction);
  const from = lastType(instruction);
  const sign = isSignedType(from) ? 'S' : 'U';
  const [destination] = instruction.destinations;
  eachPart(v, to, (group, half) => {
    v.use(instruction.sources[0], from, group);
    if (to === 'f64') {
      takeHalf(v, half);
      f.simd(`f64x2ConvertLowI32x4${sign}`);
      v.assign(destination, to, group, half);
    } else {
      f.simd(`f32x4ConvertI32x4${sign}`);
      v.assignArithmetic(destination, 'f32', group);
    }
  });
};

const TWO_32 = 2 ** 32;

/** Of 64 bits to f64: the upper word's double is exact, so the sum with the lower one's is rounded once. */
const fromLongs: VectorEmitter = (v, instruction) => {
  const { f } = v;
  const isSigned = isSignedType(lastType(instruction));
  eachPart(v, 'f64', (group, half) => {
    v.use(instruction.sources[0], lastType(instruction), group, half);
    const value = keep(v, 'a');
    f.get(value)
      .get(value)
      .shuffleWords(1, 3, 1, 3)
      .simd(`f64x2ConvertLowI32x4${isSigned ? 'S' : 'U'}`);
    pushDouble(v, TWO_32);
    f.simd('f64x2Mul').get(value).get(value).shuffleWords(0, 2, 0, 2).simd('f64x2ConvertLowI32x4U');
    f.simd('f64x2Add');
    v.assign(instruction.destinations[0], 'f64', group, half);
  });
};

/** Clamps to the type; NaN becomes 0, or the least value where hardware converts in 64 bits. */
const toIntegers: VectorEmitter = (v, instruction) => {
  const { f } = v;
  const to = targetOf(instruction);
  const from = lastType(instruction);
  const [source] = instruction.sources;
  const sign = isSignedType(to) ? 'S' : 'U';
  for (let group = 0; group < v.groups; group++) {
    if (from === 'f32') {
      v.use(source, 'f32', group);
      if (has(instruction, 'ftz')) flush(v);
      roundIntegral(v, instruction, 'f32x4');
      f.simd(`i32x4TruncSatF32x4${sign}`);
      clampSmall(v, to);
    } else {
      for (const half of [0, 1] as const) {
        v.use(source, 'f64', group, half);
        roundIntegral(v, instruction, 'f64x2');
        const value = v.temporary('a', 'v128');
        f.tee(value).simd(`i32x4TruncSatF64x2${sign}Zero`);
        pushWord(v, -0x80000000);
        // Of each double's mask, one word.
        f.get(value).get(value).simd('f64x2Eq').v128(0, 0, 0, 0).shuffleWords(0, 2, 4, 5);
        f.simd('v128Bitselect');
      }
      joinHalves(v);
    }
    v.assign(instruction.destinations[0], to, group);
  }
};

/** Brings what was clamped to 32 bits into the range of a smaller type. */
function clampSmall(v: VectorOperands, to: ScalarType): void {
  const bits = typeBits(to);
  if (bits >= 32) return;
  const { f } = v;
  if (isSignedType(to)) {
    pushWord(v, -(2 ** (bits - 1)));
    f.simd('i32x4MaxS');
    pushWord(v, 2 ** (bits - 1) - 1);
    f.simd('i32x4MinS');
  } else {
    pushWord(v, 2 ** bits - 1);
    f.simd('i32x4MinU');
  }
}

/** Among f32: a plain one moves bits. */
const singles: VectorEmitter = (v, instruction) => {
  const isMove = !isIntegral(instruction) && !has(instruction, 'ftz') && !has(instruction, 'sat');
  const [destination] = instruction.destinations;
  for (let group = 0; group < v.groups; group++) {
    v.use(instruction.sources[0], 'f32', group, 0, isMove);
    if (isMove) {
      v.assign(destination, 'f32', group);
      continue;
    }
    if (has(instruction, 'ftz')) flush(v);
    roundIntegral(v, instruction, 'f32x4');
    if (has(instruction, 'sat')) saturate(v);
    if (has(instruction, 'ftz')) flush(v);
    v.assignArithmetic(destination, 'f32', group);
  }
};

/** Pushes a mask of the NaNs among f64x2 or f32x4 in a local. */
function pushNans(v: VectorOperands, local: number, lanes: 'f32x4' | 'f64x2'): void {
  v.f.get(local).get(local).simd(`${lanes}Ne`);
}

/** f32 to f64: exact, a NaN with its payload. */
const widenSingles: VectorEmitter = (v, instruction) => {
  const { f } = v;
  eachPart(v, 'f64', (group, half) => {
    v.use(instruction.sources[0], 'f32', group, 0, true);
    takeHalf(v, half);
    const source = keep(v, 'a');
    const result = v.temporary('result', 'v128');
    f.get(source).simd('f64x2PromoteLowF32x4');
    roundIntegral(v, instruction, 'f64x2');
    if (has(instruction, 'sat')) saturateDoubles(v);
    f.set(result);
    f.get(result);
    if (has(instruction, 'sat')) {
      v.assign(instruction.destinations[0], 'f64', group, half);
      return;
    }
    f.get(result).simd('f64x2Ne').simd('v128AnyTrue').if();
    const bits = v.temporary('b', 'v128');
    f.get(source).simd('i64x2ExtendLowI32x4U').set(bits);
    f.get(bits);
    pushLong(v, -0x80000000, 0);
    f.simd('v128And').i32(32).simd('i64x2Shl').get(bits);
    pushLong(v, 0x7fffff, 0);
    f.simd('v128And').i32(29).simd('i64x2Shl').simd('v128Or');
    pushLong(v, 0, 0x7ff80000);
    f.simd('v128Or').get(result);
    pushNans(v, result, 'f64x2');
    f.simd('v128Bitselect').set(result).end().get(result);
    v.assign(instruction.destinations[0], 'f64', group, half);
  });
};

/** f64 to f32: a NaN keeps the upper bits of its payload. */
const narrowDoubles: VectorEmitter = (v, instruction) => {
  const { f } = v;
  for (let group = 0; group < v.groups; group++) {
    for (const half of [0, 1] as const) narrowHalf(v, instruction, group, half);
    joinHalves(v);
    v.assign(instruction.destinations[0], 'f32', group);
  }
  function narrowHalf(operands: VectorOperands, of: IrInstruction, group: number, half: Half): void {
    operands.use(of.sources[0], 'f64', group, half);
    const source = keep(operands, 'a');
    const result = operands.temporary(`narrowed ${half}`, 'v128');
    f.get(source);
    roundIntegral(operands, of, 'f64x2');
    if (has(of, 'sat')) saturateDoubles(operands);
    f.simd('f32x4DemoteF64x2Zero').set(result);
    f.get(result);
    if (has(of, 'sat')) return;
    f.get(result).simd('f32x4Ne').simd('v128AnyTrue').if();
    f.get(source).i32(29).simd('i64x2ShrU');
    pushLong(operands, 0x3fffff, 0);
    f.simd('v128And').get(source).i32(32).simd('i64x2ShrU');
    pushLong(operands, -0x80000000, 0);
    f.simd('v128And').simd('v128Or');
    pushLong(operands, 0x7fc00000, 0);
    f.simd('v128Or').v128(0, 0, 0, 0).shuffleWords(0, 2, 4, 5).get(result);
    pushNans(operands, result, 'f32x4');
    f.simd('v128Bitselect').set(result).end().get(result);
  }
};

/** Clamps f64x2 on the stack to [0, 1]; NaN and −0 become 0. */
function saturateDoubles(v: VectorOperands): void {
  pushDouble(v, 1);
  v.f.simd('f64x2Pmin');
  const value = keep(v, 'clamped');
  v.f.v128(0, 0, 0, 0).get(value).simd('f64x2Pmax');
}

/** f64 to itself, rounded to integral values: a NaN stays, quieted. */
const doubles: VectorEmitter = (v, instruction) => {
  const { f } = v;
  const isMove = !isIntegral(instruction);
  eachPart(v, 'f64', (group, half) => {
    v.use(instruction.sources[0], 'f64', group, half);
    if (!isMove) {
      const source = keep(v, 'a');
      f.get(source);
      roundIntegral(v, instruction, 'f64x2');
      const result = v.temporary('result', 'v128');
      f.tee(result).get(result).simd('f64x2Ne').simd('v128AnyTrue').if();
      f.get(source).get(source).get(result).call(v.library.index('chooseNans')).set(result).end().get(result);
    }
    v.assign(instruction.destinations[0], 'f64', group, half);
  });
};

/** bf16 to f32: the upper half of its bits. */
const fromBfloats: VectorEmitter = (v, instruction) => {
  for (let group = 0; group < v.groups; group++) {
    v.use(instruction.sources[0], 'b16', group);
    v.f.i32(16).simd('i32x4Shl');
    v.assign(instruction.destinations[0], 'f32', group);
  }
};

const fromHalves: VectorEmitter = (v, instruction) => {
  for (let group = 0; group < v.groups; group++) {
    v.use(instruction.sources[0], 'b16', group);
    v.f.call(v.library.index('widenHalves'));
    v.assignArithmetic(instruction.destinations[0], 'f32', group);
  }
};

export function conversionVector(instruction: IrInstruction): VectorEmitter | undefined {
  const to = targetOf(instruction);
  const from = lastType(instruction);
  const isDirected = directedMode(instruction) !== undefined;
  const clamps = has(instruction, 'sat');
  const flushes = has(instruction, 'ftz');
  if (has(instruction, 'pack') || has(instruction, 'relu') || has(instruction, 'satfinite')) return undefined;
  if (isInteger(from) && isInteger(to)) {
    if (!clamps) return integers;
    return isWide(from) || isWide(to) ? undefined : clampedIntegers;
  }
  if (isInteger(from)) {
    if (isDirected || clamps) return undefined;
    if (to === 'f64') return isWide(from) ? fromLongs : fromIntegers;
    return to === 'f32' && !isWide(from) ? fromIntegers : undefined;
  }
  if (isInteger(to)) {
    if (isWide(to) || !isFloatType(from)) return undefined;
    if (from === 'f32') return toIntegers;
    return from === 'f64' && typeBits(to) === 32 ? toIntegers : undefined;
  }
  if (to === 'f32' && from === 'f32') return isDirected ? undefined : singles;
  if (to === 'f64' && from === 'f64') return isDirected || clamps ? undefined : doubles;
  if (to === 'f64' && from === 'f32') return flushes ? undefined : widenSingles;
  if (to === 'f32' && from === 'f64') return isDirected || flushes ? undefined : narrowDoubles;
  if (to === 'f32' && from === 'bf16') return clamps || flushes ? undefined : fromBfloats;
  if (to === 'f32' && from === 'f16') return clamps || flushes ? undefined : fromHalves;
  return undefined;
}
