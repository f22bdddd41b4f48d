import { exponentialBias, specialFunctionRows } from '../../arithmetic/index.js';
import { FunctionBuilder } from '../../../wasm/index.js';
import { AREA } from '../area/index.js';
import type { Library } from './library.js';
import { ROW_BYTES } from './specialFunctions.js';

/**
 * The special function unit for four lanes at once: the evaluation of `specialFunctions.ts` with its 64-bit sums in
 * halves. Only the tables' rows are fetched lane by lane.
 */

const INFINITY = 0x7f800000;
const NAN = 0x7fffffff;
const SIGN = -0x80000000;
const LEAST_NORMAL = 0x00800000;

export function word(f: FunctionBuilder, bits: number): FunctionBuilder {
  return f.v128(bits, bits, bits, bits);
}

function single(f: FunctionBuilder, value: number): FunctionBuilder {
  return word(f, new Int32Array(new Float32Array([value]).buffer)[0] ?? 0);
}

function long(f: FunctionBuilder, value: number): FunctionBuilder {
  const high = Math.floor(value / 2 ** 32);
  return f.v128(value | 0, high, value | 0, high);
}

/** Pushes x² of 16 or 17 bits without its lowest columns, as the definitions' `truncatedSquare`. */
function pushSquare(f: FunctionBuilder, x: number, lowBits: 16 | 17): void {
  const [bits, pair, upper] = [f.local('v128'), f.local('v128'), f.local('v128')];
  f.get(x);
  if (lowBits === 17) f.i32(1).simd('i32x4ShrU');
  f.tee(bits).get(bits).i32(16).simd('i32x4Shl').simd('v128Or').tee(pair);
  f.i32(9).simd('i16x8ShrU').set(upper);
  // Columns are exact: what is left out was masked before it was multiplied.
  for (let row = specialFunctionRows.squareMasks; row < specialFunctionRows.squareMasks + 8; row += 2) {
    const masks = AREA.specialFunctions + row * ROW_BYTES;
    f.get(upper).i32(0).simdMemory('v128Load', masks).simd('v128And');
    f.get(pair)
      .i32(0)
      .simdMemory('v128Load', masks + ROW_BYTES)
      .simd('v128And')
      .simd('i32x4DotI16x8S');
    if (row > specialFunctionRows.squareMasks) f.simd('i32x4Add');
  }
  f.i32(7).simd('i32x4ShrU').get(bits).i32(8).simd('i32x4ShrU').tee(upper).get(upper).simd('i16x8Mul');
  f.i32(1).simd('i32x4ShrU').simd('i32x4Add');
}

/** Coefficients of four lanes: c0 as i64x2 of the lower and the upper two, c1 and c2 as i32x4. */
export interface Rows {
  readonly c0: readonly [number, number];
  readonly c1: number;
  readonly c2: number;
}

/** Fetches a row for each lane, `offsets` bytes behind the first one of a table. */
export function fetchRows(f: FunctionBuilder, offsets: number, firstRow: number): Rows {
  const table = AREA.specialFunctions + firstRow * ROW_BYTES;
  const rows = [0, 1, 2, 3].map((lane) => {
    const row = f.local('v128');
    f.get(offsets).simdLane('i32x4ExtractLane', lane).simdMemory('v128Load', table).set(row);
    return row;
  });
  const [first = 0, second = 0, third = 0, fourth = 0] = rows;
  const found = { c0: [f.local('v128'), f.local('v128')] as const, c1: f.local('v128'), c2: f.local('v128') };
  const [lower, upper] = [f.local('v128'), f.local('v128')];
  f.get(first).get(second).shuffleWords(0, 1, 4, 5).set(found.c0[0]);
  f.get(third).get(fourth).shuffleWords(0, 1, 4, 5).set(found.c0[1]);
  f.get(first).get(second).shuffleWords(2, 6, 3, 7).set(lower);
  f.get(third).get(fourth).shuffleWords(2, 6, 3, 7).set(upper);
  f.get(lower).get(upper).shuffleWords(0, 1, 4, 5).set(found.c1);
  f.get(lower).get(upper).shuffleWords(2, 3, 6, 7).set(found.c2);
  return found;
}

/** What pushes two lanes' c0 + c1 · x + c2 · x², the lower or the upper ones. */
export function pushSums(f: FunctionBuilder, rows: Rows, x: number, lowBits: 16 | 17): (half: 0 | 1) => void {
  const last = f.local('v128');
  f.get(rows.c2);
  pushSquare(f, x, lowBits);
  f.simd('i32x4Mul').set(last);
  return (half) => {
    const part = half === 0 ? 'Low' : 'High';
    f.get(rows.c0[half]).get(rows.c1).get(x).simd(`i64x2Extmul${part}I32x4S`).simd('i64x2Add');
    f.get(last).simd(`i64x2Extend${part}I32x4S`).simd('i64x2Add');
  };
}

/** Pushes the significands of four lanes without their leading ones: sums cut by as many bits as `cut` says. */
function pushSignificand(
  f: FunctionBuilder,
  rows: Rows,
  x: number,
  lowBits: 16 | 17,
  cut: (half: 0 | 1) => void,
): void {
  const push = pushSums(f, rows, x, lowBits);
  for (const half of [0, 1] as const) {
    push(half);
    cut(half);
  }
  word(f.shuffleWords(0, 2, 4, 6), LEAST_NORMAL).simd('i32x4Sub');
}

/** Pushes the magnitudes' fractions. */
export function pushFraction(f: FunctionBuilder, magnitude: number): FunctionBuilder {
  return word(f.get(magnitude), 0x7fffff).simd('v128And');
}

/** Takes results; where a local compares with a constant, another constant takes their place, with the sign or without. */
function replace(
  f: FunctionBuilder,
  result: number,
  magnitude: number,
  name: 'i32x4GtS' | 'i32x4LtS' | 'i32x4Eq',
  bits: number,
  by: number,
): void {
  word(f, by).get(result);
  word(f.get(magnitude), bits).simd(name).simd('v128Bitselect').set(result);
}

function unary(): FunctionBuilder {
  return new FunctionBuilder(['v128'], ['v128']);
}

/** Pushes the significands of 1/x without their leading ones. */
function pushReciprocalSignificand(f: FunctionBuilder, magnitude: number): void {
  const [offset, x, result] = [f.local('v128'), f.local('v128'), f.local('v128')];
  word(f.get(magnitude).i32(12).simd('i32x4ShrU'), 0x7f0).simd('v128And').set(offset);
  word(f.get(magnitude), 0xffff).simd('v128And').set(x);
  const rows = fetchRows(f, offset, specialFunctionRows.reciprocal);
  pushSignificand(f, rows, x, 16, () => f.i32(15).simd('i64x2ShrU'));
  f.set(result);
  // Powers of two are exact.
  word(f, LEAST_NORMAL).get(result);
  pushFraction(f, magnitude).v128(0, 0, 0, 0).simd('i32x4Eq').simd('v128Bitselect');
}

/** Pushes magnitudes of 1/x, for x from 2^-126 to 2^126. */
function pushPlainReciprocal(f: FunctionBuilder, magnitude: number): FunctionBuilder {
  pushReciprocalSignificand(f, magnitude);
  word(f, 253 << 23);
  word(f.get(magnitude), INFINITY).simd('v128And').simd('i32x4Sub');
  return f.simd('i32x4Add');
}

/** f32 bits to the bits of 1/x. */
function unitReciprocalLanes(): FunctionBuilder {
  const f = unary();
  const [magnitude, result] = [f.local('v128'), f.local('v128')];
  word(f.get(0), NAN).simd('v128And').set(magnitude);
  pushPlain(f, [magnitude], 0x7e800000).if();
  word(f.get(0), SIGN).simd('v128And');
  pushPlainReciprocal(f, magnitude).simd('v128Or').op('return').end();
  pushReciprocalSignificand(f, magnitude);
  word(f, 253).get(magnitude).i32(23).simd('i32x4ShrU').simd('i32x4Sub').i32(23).simd('i32x4Shl');
  f.simd('i32x4Add').set(result);
  // Beyond 2^126 the result is subnormal, which the unit makes zero.
  replace(f, result, magnitude, 'i32x4GtS', 0x7e800000, 0);
  replace(f, result, magnitude, 'i32x4LtS', LEAST_NORMAL, INFINITY);
  word(f.get(0), SIGN).simd('v128And').get(result).simd('v128Or').set(result);
  replace(f, result, magnitude, 'i32x4GtS', INFINITY, NAN);
  return f.get(result);
}

/** Pushes whether the bits in all lanes of locals are of positive normal numbers up to a largest one. */
export function pushPlain(f: FunctionBuilder, operands: readonly number[], largest: number): FunctionBuilder {
  const pushAll = (name: 'i32x4MinS' | 'i32x4MaxS'): void =>
    operands.forEach((operand, index) => {
      f.get(operand);
      if (index > 0) f.simd(name);
    });
  pushAll('i32x4MinS');
  word(f, LEAST_NORMAL - 1).simd('i32x4GtS');
  pushAll('i32x4MaxS');
  return word(f, largest + 1)
    .simd('i32x4LtS')
    .simd('v128And')
    .simd('i32x4AllTrue');
}

/** What a root and a reciprocal root have in common. */
interface RootShape {
  /** The table of odd exponents, before that of even ones. */
  readonly firstRow: number;
  /** How far the sums of even and odd exponents are cut. */
  readonly cuts: readonly [even: number, odd: number];
  /** Takes significands and pushes results: `half` is half of the exponent's field, rounded up. */
  readonly exponent: (f: FunctionBuilder, half: () => FunctionBuilder) => void;
  readonly atZero: number;
  readonly atInfinity: number;
  /** Whether the sum of an even power of two is one short. */
  readonly isShortAtPower: boolean;
}

/** Pushes the root of positive normal numbers. */
function pushPlainRoot(f: FunctionBuilder, bits: number, shape: RootShape): FunctionBuilder {
  const [offset, x] = [f.local('v128'), f.local('v128')];
  // The lowest bit of the exponent's field and the upper bits of the fraction.
  word(f.get(bits).i32(13).simd('i32x4ShrU'), 0x7f0).simd('v128And').set(offset);
  word(f.get(bits), 0x1ffff).simd('v128And').set(x);
  const rows = fetchRows(f, offset, shape.firstRow);
  const [even, uneven] = shape.cuts;
  const odd = f.local('v128');
  if (even !== uneven)
    word(f.get(bits), LEAST_NORMAL).simd('v128And').v128(0, 0, 0, 0).simd('i32x4Eq').set(odd);
  pushSignificand(f, rows, x, 17, (part) => {
    if (even === uneven) {
      f.i32(even).simd('i64x2ShrU');
      return;
    }
    const cut = f.local('v128');
    f.set(cut).get(cut).i32(uneven).simd('i64x2ShrU');
    f.get(cut).i32(even).simd('i64x2ShrU').get(odd);
    f.simd(part === 0 ? 'i64x2ExtendLowI32x4S' : 'i64x2ExtendHighI32x4S').simd('v128Bitselect');
  });
  // A comparison that holds is -1.
  if (shape.isShortAtPower)
    word(word(f.get(bits), 0xffffff).simd('v128And'), LEAST_NORMAL)
      .simd('i32x4Eq')
      .simd('i32x4Sub');
  shape.exponent(f, () =>
    word(f.get(bits), LEAST_NORMAL).simd('i32x4Add').i32(24).simd('i32x4ShrU').i32(23).simd('i32x4Shl'),
  );
  return f;
}

function unitOfRoot(shape: RootShape): FunctionBuilder {
  const f = unary();
  const [magnitude, result] = [f.local('v128'), f.local('v128')];
  pushPlain(f, [0], INFINITY - 1).if();
  pushPlainRoot(f, 0, shape).op('return').end();
  word(f.get(0), NAN).simd('v128And').set(magnitude);
  pushPlainRoot(f, magnitude, shape).set(result);
  replace(f, result, magnitude, 'i32x4Eq', INFINITY, shape.atInfinity);
  // Negative numbers have no root, but what the unit takes for zero keeps its sign.
  word(f, NAN).get(result).get(0).i32(31).simd('i32x4ShrS').simd('v128Bitselect').set(result);
  word(f.get(0), SIGN).simd('v128And');
  word(f, shape.atZero).simd('v128Or').get(result);
  word(f.get(magnitude), LEAST_NORMAL).simd('i32x4LtS').simd('v128Bitselect').set(result);
  replace(f, result, magnitude, 'i32x4GtS', INFINITY, NAN);
  return f.get(result);
}

const reciprocalRoot: RootShape = {
  firstRow: specialFunctionRows.rootReciprocalOdd,
  cuts: [16, 16],
  exponent: (f, half) => {
    word(f, 190 << 23);
    half().simd('i32x4Sub').simd('i32x4Add');
  },
  atZero: INFINITY,
  atInfinity: 0,
  isShortAtPower: true,
};

const root: RootShape = {
  firstRow: specialFunctionRows.rootOdd,
  cuts: [17, 16],
  exponent: (f, half) => {
    half().simd('i32x4Add');
    word(f, 63 << 23).simd('i32x4Add');
  },
  atZero: 0,
  atInfinity: INFINITY,
  isShortAtPower: false,
};

/** Pushes one f32 where the magnitude in a local is below the least normal number, another elsewhere. */
function pushScale(f: FunctionBuilder, x: number, ifTrue: number, ifFalse: number): FunctionBuilder {
  single(f, ifTrue);
  single(f, ifFalse);
  single(f.get(x).simd('f32x4Abs'), 2 ** -126).simd('f32x4Lt');
  return f.simd('v128Bitselect');
}

/** Pushes what brings f32 into the range whose reciprocals are normal numbers. */
function pushReciprocalScale(f: FunctionBuilder, x: number): FunctionBuilder {
  single(f, 0.25);
  pushScale(f, x, 2 ** 24, 1);
  single(f.get(x).simd('f32x4Abs'), 2 ** 126).simd('f32x4Gt');
  return f.simd('v128Bitselect');
}

function approximateReciprocalLanes(library: Library): FunctionBuilder {
  const f = unary();
  const scale = f.local('v128');
  pushReciprocalScale(f, 0).tee(scale).get(0).simd('f32x4Mul');
  return f.call(library.index('unitReciprocalLanes')).get(scale).simd('f32x4Mul');
}

/** Of what the unit would take for zero, the function of 2^24 times it. */
function scaledRoot(shape: RootShape, after: number): (library: Library) => FunctionBuilder {
  return (library) => {
    const f = unary();
    pushPlain(f, [0], INFINITY - 1).if();
    pushPlainRoot(f, 0, shape).op('return').end();
    pushScale(f, 0, 2 ** 24, 1)
      .get(0)
      .simd('f32x4Mul');
    f.call(library.index(shape === root ? 'unitRootLanes' : 'unitReciprocalRootLanes'));
    return pushScale(f, 0, after, 1).simd('f32x4Mul');
  };
}

/** The same of eight lanes, which is one question where all numbers are plain. */
function rootPair(
  shape: RootShape,
  other: 'approximateReciprocalRootLanes' | 'approximateRootLanes',
): (library: Library) => FunctionBuilder {
  return (library) => {
    const f = new FunctionBuilder(['v128', 'v128'], ['v128', 'v128']);
    pushPlain(f, [0, 1], INFINITY - 1).if();
    pushPlainRoot(f, 0, shape);
    pushPlainRoot(f, 1, shape).op('return').end();
    return f.get(0).call(library.index(other)).get(1).call(library.index(other));
  };
}

/** (a, b) → a · (1/b), both scaled alike; under `.ftz` the product is flushed. */
function quotient(isFull: boolean, flushes: boolean): (library: Library) => FunctionBuilder {
  return (library) => {
    const f = new FunctionBuilder(['v128', 'v128'], ['v128']);
    const scale = f.local('v128');
    if (isFull) pushReciprocalScale(f, 1);
    else if (flushes) single(f, 1);
    else pushScale(f, 1, 2 ** 24, 1);
    f.tee(scale).get(1).simd('f32x4Mul').call(library.index('unitReciprocalLanes'));
    f.get(0).get(scale).simd('f32x4Mul');
    return flushes ? f.call(library.index('productFlushedLanes')) : f.simd('f32x4Mul');
  };
}

/** 2^x, as the scalar function has it. */
function exponential2Lanes(): FunctionBuilder {
  const f = unary();
  return pushExponential2(f, 0);
}

/** The same of eight lanes, so that constants are made once for both halves. */
function exponential2PairLanes(): FunctionBuilder {
  const f = new FunctionBuilder(['v128', 'v128'], ['v128', 'v128']);
  return pushExponential2(pushExponential2(f, 0), 1);
}

/** Pushes 2 to the power of what is in a local. */
function pushExponential2(f: FunctionBuilder, operand: number): FunctionBuilder {
  const locals = [0, 1, 2, 3, 4, 5, 6, 7].map(() => f.local('v128'));
  const [isLow = 0, x = 0, fixed = 0, low = 0, result = 0, first = 0, second = 0, words = 0] = locals;
  const last = f.local('v128');
  single(f.get(operand), -126).simd('f32x4Lt').set(isLow);
  single(f, 0.5);
  single(f, 1).get(isLow).simd('v128Bitselect').get(operand).simd('f32x4Mul').set(x);
  single(f.get(x), 2 ** 23)
    .simd('f32x4Mul')
    .simd('i32x4TruncSatF32x4S')
    .set(fixed);
  // One unit further down unless the operand is whole or not negative.
  f.get(fixed).get(fixed).i32(31).simd('i32x4ShrS');
  word(f.get(fixed), 0x7fffff).simd('v128And').v128(0, 0, 0, 0).simd('i32x4Ne');
  f.simd('v128And').simd('i32x4Add').set(fixed);
  word(f.get(fixed), 0x1ffff).simd('v128And').set(low);
  word(f.get(fixed).i32(14).simd('i32x4ShrU'), 0x1f8).simd('v128And').set(words);
  for (const [pair, local] of [first, second].entries()) {
    f.get(words).simdLane('i32x4ExtractLane', 2 * pair + 1);
    f.get(words)
      .simdLane('i32x4ExtractLane', 2 * pair)
      .simdMemory('v128Load64Zero', AREA.exponentials);
    f.simdMemoryLane('v128Load64Lane', AREA.exponentials, 1).set(local);
  }
  // c1 and c2 lie in the lower words, c0 from bit 26 on.
  f.get(first).get(second).shuffleWords(0, 2, 4, 6).set(words);
  word(f.get(words), 0x3ff).simd('v128And');
  pushSquare(f, low, 17);
  f.simd('i32x4Mul').set(last);
  word(f.get(words).i32(10).simd('i32x4ShrU'), 0xffff).simd('v128And').set(words);
  for (const [half, local] of [first, second].entries()) {
    const part = half === 0 ? 'Low' : 'High';
    long(f.get(local).i32(13).simd('i64x2ShrU'), -0x2000).simd('v128And');
    long(f, exponentialBias).simd('i64x2Add');
    f.get(words).get(low).simd(`i64x2Extmul${part}I32x4U`).simd('i64x2Add');
    f.get(last).simd(`i64x2Extend${part}I32x4U`).simd('i64x2Add').i32(15).simd('i64x2ShrU');
  }
  f.shuffleWords(0, 2, 4, 6);
  word(f.get(fixed).i32(23).simd('i32x4ShrS'), 126).simd('i32x4Add').i32(23).simd('i32x4Shl');
  f.simd('i32x4Add').tee(result);
  f.get(result);
  single(f, 1).get(isLow).simd('v128Bitselect').simd('f32x4Mul').set(result);
  // A NaN stays one, what is large becomes infinite, what is below −252 zero.
  f.get(result);
  single(f.get(operand), Infinity).simd('f32x4Mul').get(isLow).simd('v128AndNot');
  single(f.get(x), -126).simd('f32x4Ge');
  single(f.get(x), 128).simd('f32x4Lt').simd('v128And');
  return f.simd('v128Bitselect');
}

export const laneSpecialFunctionMakers = {
  unitReciprocalLanes,
  unitReciprocalRootLanes: () => unitOfRoot(reciprocalRoot),
  unitRootLanes: () => unitOfRoot(root),
  approximateReciprocalLanes,
  approximateReciprocalRootLanes: scaledRoot(reciprocalRoot, 2 ** 12),
  approximateReciprocalRootPairLanes: rootPair(reciprocalRoot, 'approximateReciprocalRootLanes'),
  approximateRootLanes: scaledRoot(root, 2 ** -12),
  approximateRootPairLanes: rootPair(root, 'approximateRootLanes'),
  divideApproximatelyLanes: quotient(false, false),
  divideApproximatelyFlushedLanes: quotient(false, true),
  divideFullyLanes: quotient(true, false),
  divideFullyFlushedLanes: quotient(true, true),
  exponential2Lanes,
  exponential2PairLanes,
} satisfies Record<string, (library: Library) => FunctionBuilder>;
