import { isSignedType, typeBits, type ScalarType } from '../../../../ptx/index.js';
import type { FunctionBuilder } from '../../../../wasm/index.js';
import { elementBytes, eachPart, type LaneMove, type Part } from './laneMoves.js';

type Words = readonly [number, number, number, number];

/** Words of two vectors in the orders that interleave and part them. */
const LOW_PAIRS: Words = [0, 4, 1, 5];
const HIGH_PAIRS: Words = [2, 6, 3, 7];
const LOW_HALVES: Words = [0, 1, 4, 5];
const HIGH_HALVES: Words = [2, 3, 6, 7];
const EVEN_WORDS: Words = [0, 2, 4, 6];
const ODD_WORDS: Words = [1, 3, 5, 7];

/** The lowest byte of each lane, and the lowest two. */
const LOW_BYTES = [0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12];
const LOW_SHORTS = [0, 1, 4, 5, 8, 9, 12, 13, 0, 1, 4, 5, 8, 9, 12, 13];

/** Whether lanes side by side in memory move as whole vectors. */
export function movesWhole({ type, count }: LaneMove): boolean {
  const bytes = elementBytes(type);
  return count === 1 || (bytes === 4 && (count === 2 || count === 4)) || (bytes === 8 && count === 2);
}

/**
 * Loads what lies side by side, lane after lane, from the address in local `at`: whole vectors, transposed when each lane
 * has several elements. @param put takes each part from the stack. @param from constant that is added to the address
 */
export function loadWhole(
  f: FunctionBuilder,
  move: LaneMove,
  at: number,
  put: (part: Part) => void,
  from = 0,
): void {
  const { type, count, groups, temporary } = move;
  const bytes = elementBytes(type);
  const row = (index: number): number => temporary(`row ${index}`);
  const load = (offset: number): FunctionBuilder => f.get(at).simdMemory('v128Load', from + offset);
  const combine = (a: number, b: number, words: Words): FunctionBuilder =>
    f
      .get(a)
      .get(b)
      .shuffleWords(...words);
  if (count === 1) {
    eachPart(move, (part) => {
      loadOne(f, type, at, part, from);
      put(part);
    });
    return;
  }
  if (bytes === 8) {
    for (let group = 0; group < groups; group++)
      for (const half of [0, 1] as const) {
        for (const index of [0, 1]) load(64 * group + 32 * half + 16 * index).set(row(index));
        combine(row(0), row(1), LOW_HALVES);
        put({ element: 0, group, half });
        combine(row(0), row(1), HIGH_HALVES);
        put({ element: 1, group, half });
      }
    return;
  }
  for (let group = 0; group < groups; group++) {
    for (let index = 0; index < count; index++) load(16 * (count * group + index)).set(row(index));
    if (count === 2) {
      combine(row(0), row(1), EVEN_WORDS);
      put({ element: 0, group, half: 0 });
      combine(row(0), row(1), ODD_WORDS);
      put({ element: 1, group, half: 0 });
      continue;
    }
    transpose(f, [row(0), row(1), row(2), row(3)], temporary, (element) => put({ element, group, half: 0 }));
  }
}

function loadOne(
  f: FunctionBuilder,
  type: ScalarType,
  at: number,
  { group, half }: Part,
  from: number,
): void {
  const isSigned = isSignedType(type);
  f.get(at);
  switch (typeBits(type)) {
    case 8:
      f.simdMemory('v128Load32Zero', from + 4 * group);
      f.simd(isSigned ? 'i16x8ExtendLowI8x16S' : 'i16x8ExtendLowI8x16U');
      f.simd(isSigned ? 'i32x4ExtendLowI16x8S' : 'i32x4ExtendLowI16x8U');
      return;
    case 16:
      f.simdMemory(isSigned ? 'v128Load16x4S' : 'v128Load16x4U', from + 8 * group);
      return;
    case 64:
      f.simdMemory('v128Load', from + 32 * group + 16 * half);
      return;
    default:
      f.simdMemory('v128Load', from + 16 * group);
  }
}

/** Stores one group of lanes side by side at the address in local `at`. @param get pushes each part. */
export function storeWhole(
  f: FunctionBuilder,
  move: LaneMove,
  at: number,
  group: number,
  get: (part: Part) => void,
): void {
  const { type, count, temporary } = move;
  const bytes = elementBytes(type);
  const lanes = (element: number, half: 0 | 1 = 0): number => {
    const local = temporary(`element ${element}`);
    get({ element, group, half });
    f.set(local);
    return local;
  };
  const store = (a: number, b: number, words: Words, to: number): void => {
    f.get(at)
      .get(a)
      .get(b)
      .shuffleWords(...words)
      .simdMemory('v128Store', to);
  };
  if (count === 1) {
    storeOne(f, type, at, group, get);
    return;
  }
  if (bytes === 8) {
    for (const half of [0, 1] as const) {
      const [a, b] = [lanes(0, half), lanes(1, half)];
      store(a, b, LOW_HALVES, 64 * group + 32 * half);
      store(a, b, HIGH_HALVES, 64 * group + 32 * half + 16);
    }
    return;
  }
  if (count === 2) {
    const [a, b] = [lanes(0), lanes(1)];
    store(a, b, LOW_PAIRS, 32 * group);
    store(a, b, HIGH_PAIRS, 32 * group + 16);
    return;
  }
  transpose(f, [lanes(0), lanes(1), lanes(2), lanes(3)], temporary, (row) => {
    const whole = temporary('whole row');
    f.set(whole);
    f.get(at)
      .get(whole)
      .simdMemory('v128Store', 64 * group + 16 * row);
  });
}

function storeOne(
  f: FunctionBuilder,
  type: ScalarType,
  at: number,
  group: number,
  get: (part: Part) => void,
): void {
  const part = { element: 0, group, half: 0 } as const;
  const whole = { element: 0, group, half: 0 } as const;
  f.get(at);
  switch (typeBits(type)) {
    case 8:
      narrow(LOW_BYTES);
      f.simdMemoryLane('v128Store32Lane', 4 * group, 0);
      return;
    case 16:
      narrow(LOW_SHORTS);
      f.simdMemoryLane('v128Store64Lane', 8 * group, 0);
      return;
    case 64:
      get(part);
      f.simdMemory('v128Store', 32 * group).get(at);
      get({ ...part, half: 1 });
      f.simdMemory('v128Store', 32 * group + 16);
      return;
    default:
      get(whole);
      f.simdMemory('v128Store', 16 * group);
  }

  function narrow(bytes: readonly number[]): void {
    get(part);
    get(part);
    f.shuffle(bytes);
  }
}

/** Rows of four words to columns; `take` takes each from the stack. */
function transpose(
  f: FunctionBuilder,
  [a, b, c, d]: readonly [number, number, number, number],
  temporary: (name: string) => number,
  take: (index: number) => void,
): void {
  const [upper, lower] = [temporary('upper pairs'), temporary('lower pairs')];
  for (const [pairs, first] of [
    [LOW_PAIRS, 0],
    [HIGH_PAIRS, 2],
  ] as const) {
    f.get(a)
      .get(b)
      .shuffleWords(...pairs)
      .set(upper);
    f.get(c)
      .get(d)
      .shuffleWords(...pairs)
      .set(lower);
    f.get(upper)
      .get(lower)
      .shuffleWords(...LOW_HALVES);
    take(first);
    f.get(upper)
      .get(lower)
      .shuffleWords(...HIGH_HALVES);
    take(first + 1);
  }
}
