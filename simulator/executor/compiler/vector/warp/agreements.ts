import type { IrInstruction, IrOperand } from '../../../../ptx/index.js';
import { typeBits } from '../../../../ptx/index.js';
import type { SimdName } from '../../../../wasm/index.js';
import { WARP_SIZE } from '../../area/index.js';
import { WARP_GROUPS, type WarpValues } from './warpValues.js';

/** `vote`: what the lanes' predicates have in common. */
export function emitVote(values: WarpValues, { modifiers, sources: [predicate] }: IrInstruction): void {
  const { f } = values;
  const votes = values.temporary('votes', 'i32');
  for (let group = 0; group < WARP_GROUPS; group++) {
    values.use(predicate, 'pred', group);
    addBits(values, group);
  }
  f.set(votes).get(votes);
  if (modifiers.includes('all')) f.i32(-1).op('i32Eq');
  else if (modifiers.includes('any')) f.i32(0).op('i32Ne');
  // Both 0 and −1 become 0 or 1 when one is added.
  else if (modifiers.includes('uni')) f.i32(1).op('i32Add').i32(2).op('i32LtU');
  values.giveUniform('value');
}

/** `redux`: one value of all lanes' values. */
export function emitReduction(values: WarpValues, instruction: IrInstruction): void {
  const { f } = values;
  const combine = combination(instruction);
  const [value] = instruction.sources;
  const total = values.temporary('total', 'v128');
  for (let group = 0; group < WARP_GROUPS; group++) {
    values.use(value, 'b32', group);
    if (group > 0) f.simd(combine);
  }
  f.tee(total).get(total).get(total).shuffleWords(2, 3, 0, 1).simd(combine).tee(total);
  f.get(total).get(total).shuffleWords(1, 0, 3, 2).simd(combine).simdLane('i32x4ExtractLane', 0);
  values.giveUniform('value');
}

/** `match`: which lanes have the same value, or whether all have. */
export function emitMatch(values: WarpValues, instruction: IrInstruction): void {
  const isWide = typeBits(instruction.types.at(-1) ?? 'b32') === 64;
  if (instruction.modifiers.includes('all')) emitMatchAll(values, instruction, isWide);
  else emitMatchAny(values, instruction, isWide);
}

function emitMatchAll(values: WarpValues, { sources: [value] }: IrInstruction, isWide: boolean): void {
  const { f } = values;
  const first = values.temporary('first value', 'v128');
  const all = values.temporary('all the same', 'i32');
  pushGroup(values, value, isWide, 0, 0);
  if (isWide) f.simdLane('i64x2ExtractLane', 0).simd('i64x2Splat');
  else f.simdLane('i32x4ExtractLane', 0).simd('i32x4Splat');
  f.set(first);
  for (let group = 0; group < WARP_GROUPS; group++) {
    pushEqual(values, value, isWide, group, first);
    if (group > 0) f.simd('v128And');
  }
  f.simd('i32x4AllTrue').set(all);
  f.i32(0).get(all).op('i32Sub');
  values.giveUniform('value');
  f.get(all);
  values.giveUniform('predicate');
}

/** Lane by lane: those that have its value get its bit. */
function emitMatchAny(values: WarpValues, { sources: [value] }: IrInstruction, isWide: boolean): void {
  const { f } = values;
  const place = values.place(value, isWide ? 'b64' : 'b32');
  const address = values.temporary('match address', 'i32');
  const bit = values.temporary('match bit', 'i32');
  const bits = values.temporary('match bits', 'v128');
  const other = values.temporary('match value', 'v128');
  const equal = Array.from({ length: WARP_GROUPS }, (_, group) => values.temporary(`equal ${group}`, 'v128'));
  for (const local of equal) f.v128(0, 0, 0, 0).set(local);
  f.get(place.base).set(address).i32(1).set(bit);
  const again = f.loop();
  f.get(address)
    .simdMemory(isWide ? 'v128Load64Splat' : 'v128Load32Splat', place.offset)
    .set(other);
  f.get(bit).simd('i32x4Splat').set(bits);
  equal.forEach((local, group) => {
    pushEqual(values, value, isWide, group, other);
    f.get(bits).simd('v128And').get(local).simd('v128Or').set(local);
  });
  f.get(address)
    .i32(isWide ? 8 : 4)
    .op('i32Add')
    .set(address);
  f.get(bit).i32(1).op('i32Shl').tee(bit).brIf(again).end();
  equal.forEach((local, group) => {
    f.get(local);
    values.give('value', group);
  });
}

/** The lowest lane. */
export function emitElection(values: WarpValues): void {
  const { f } = values;
  f.i32(0);
  values.giveUniform('value');
  for (let group = 0; group < WARP_GROUPS; group++) {
    f.v128(group === 0 ? -1 : 0, 0, 0, 0);
    values.give('predicate', group);
  }
}

export function emitActiveMask(values: WarpValues): void {
  values.f.i32(-1);
  values.giveUniform('value');
}

/** Pushes masks of a group's lanes that have the value in a local. */
function pushEqual(
  values: WarpValues,
  value: IrOperand | undefined,
  isWide: boolean,
  group: number,
  other: number,
): void {
  const { f } = values;
  if (!isWide) {
    values.use(value, 'b32', group);
    f.get(other).simd('i32x4Eq');
    return;
  }
  for (const half of [0, 1] as const) {
    values.useHalf(value, group, half);
    f.get(other).simd('i64x2Eq');
  }
  f.shuffleWords(0, 2, 4, 6);
}

function pushGroup(
  values: WarpValues,
  value: IrOperand | undefined,
  isWide: boolean,
  group: number,
  half: 0 | 1,
): void {
  if (isWide) values.useHalf(value, group, half);
  else values.use(value, 'b32', group);
}

/** Adds the bits of a group's masks to those of the groups before, an i32 below on the stack. */
function addBits({ f }: WarpValues, group: number): void {
  f.simd('i32x4Bitmask');
  if (group === 0) return;
  f.i32((4 * group) % WARP_SIZE)
    .op('i32Shl')
    .op('i32Or');
}

function combination({ modifiers, types, line }: IrInstruction): SimdName {
  const isSigned = types.at(-1) === 's32';
  for (const modifier of modifiers) {
    switch (modifier) {
      case 'add':
        return 'i32x4Add';
      case 'and':
        return 'v128And';
      case 'or':
        return 'v128Or';
      case 'xor':
        return 'v128Xor';
      case 'min':
        return isSigned ? 'i32x4MinS' : 'i32x4MinU';
      case 'max':
        return isSigned ? 'i32x4MaxS' : 'i32x4MaxU';
    }
  }
  throw new RangeError(`redux without an operation at line ${line}`);
}
