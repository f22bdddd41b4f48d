import { specialFunctionRows } from '../../arithmetic/index.js';
import { FunctionBuilder } from '../../../wasm/index.js';
import { AREA } from '../area/index.js';
import type { Library } from './library.js';

/**
 * The special function unit's reciprocal, reciprocal root and root as functions of f32 bits, with their tables in the
 * executor's area; the same evaluation as the arithmetic definitions (`arithmetic/specialFunctions.ts`), which the
 * vectors hold both to.
 */

const INFINITY = 0x7f800000;
const NAN = 0x7fffffff;
const SIGN = -0x80000000;
export const ROW_BYTES = 16;

/** Pushes the sum of a segment: `row` holds the segment's offset in the tables, `x` the operand's lower bits. */
export function pushSum(f: FunctionBuilder, row: number, x: number, lowBits: 16 | 17): FunctionBuilder {
  const table = AREA.specialFunctions;
  f.get(row).memory('i64Load', table);
  f.get(row)
    .memory('i32Load', table + 8)
    .op('i64ExtendI32S')
    .get(x)
    .op('i64ExtendI32U')
    .op('i64Mul')
    .op('i64Add');
  f.get(row)
    .memory('i32Load', table + 12)
    .op('i64ExtendI32S');
  // The square without its lowest columns.
  const upper = lowBits - 8;
  f.get(x).i32(upper).op('i32ShrU').get(x).i32(upper).op('i32ShrU').op('i32Mul').i32(1).op('i32ShrU');
  for (let bit = lowBits - 15; bit < upper; bit++) {
    // The bit becomes a mask by way of the sign.
    f.get(x)
      .i32(31 - bit)
      .op('i32Shl')
      .i32(31)
      .op('i32ShrS');
    f.get(x)
      .i32(lowBits === 16 ? 16 - bit : 18 - bit)
      .op('i32ShrU')
      .op('i32And')
      .op('i32Add');
  }
  return f.op('i64ExtendI32U').op('i64Mul').op('i64Add');
}

function returnSigned(f: FunctionBuilder, bits: number): void {
  f.get(0).i32(SIGN).op('i32And');
  if (bits !== 0) f.i32(bits).op('i32Or');
  f.op('return');
}

/** Returns for NaN, infinities and what the unit takes for zero; leaves the magnitude in a local. */
function returnSpecials(
  f: FunctionBuilder,
  magnitude: number,
  atInfinity: () => void,
  atZero: number,
  negatives: boolean,
): void {
  f.get(0).i32(NAN).op('i32And').tee(magnitude).i32(INFINITY).op('i32GtU').if();
  f.i32(NAN).op('return').end();
  f.get(magnitude).i32(0x00800000).op('i32LtU').if();
  returnSigned(f, atZero);
  f.end();
  if (!negatives) {
    f.get(0).i32(0).op('i32LtS').if();
    f.i32(NAN).op('return').end();
  }
  f.get(magnitude).i32(INFINITY).op('i32Eq').if();
  atInfinity();
  f.end();
}

function unitReciprocal(): FunctionBuilder {
  const f = new FunctionBuilder(['i32'], ['i32']);
  const [magnitude, fraction, row, x] = [f.local('i32'), f.local('i32'), f.local('i32'), f.local('i32')];
  returnSpecials(f, magnitude, () => returnSigned(f, 0), INFINITY, true);
  f.get(magnitude).i32(0x7fffff).op('i32And').set(fraction);
  // Beyond 2^126 the result is subnormal, which the unit makes zero.
  f.get(magnitude).i32(0x7e800000).op('i32GtU').if();
  returnSigned(f, 0);
  f.end();
  f.get(0).i32(SIGN).op('i32And');
  f.i32(253).get(magnitude).i32(23).op('i32ShrU').op('i32Sub').i32(23).op('i32Shl');
  f.get(fraction).op('i32Eqz').if('i32');
  f.i32(0x800000).else();
  f.get(fraction).i32(16).op('i32ShrU').i32(ROW_BYTES).op('i32Mul').set(row);
  f.get(fraction).i32(0xffff).op('i32And').set(x);
  pushSum(f, row, x, 16).i64(15).op('i64ShrU').op('i32WrapI64').i32(0x800000).op('i32Sub').end();
  return f.op('i32Add').op('i32Or');
}

/** A function of x in [1, 4): even and odd exponents have tables, and cut the sum, each in their way. */
function pushOfRoot(
  f: FunctionBuilder,
  magnitude: number,
  rows: readonly [even: number, odd: number],
  cuts: readonly [even: number, odd: number],
): void {
  const [fraction, odd, row, x] = [f.local('i32'), f.local('i32'), f.local('i32'), f.local('i32')];
  f.get(magnitude).i32(0x7fffff).op('i32And').set(fraction);
  // The exponent's bias is odd.
  f.get(magnitude).i32(23).op('i32ShrU').i32(1).op('i32And').op('i32Eqz').set(odd);
  f.get(fraction).i32(17).op('i32ShrU');
  f.i32(rows[1]).i32(rows[0]).get(odd).op('select').op('i32Add').i32(ROW_BYTES).op('i32Mul').set(row);
  f.get(fraction).i32(0x1ffff).op('i32And').set(x);
  pushSum(f, row, x, 17);
  f.i64(cuts[1]).i64(cuts[0]).get(odd).op('select').op('i64ShrU').op('i32WrapI64').i32(0x800000).op('i32Sub');
}

/** Pushes half of the exponent without its bias, rounded down. */
function pushHalfExponent(f: FunctionBuilder, magnitude: number): void {
  f.get(magnitude).i32(23).op('i32ShrU').i32(127).op('i32Sub').i32(1).op('i32ShrS');
}

function unitReciprocalRoot(): FunctionBuilder {
  const f = new FunctionBuilder(['i32'], ['i32']);
  const magnitude = f.local('i32');
  returnSpecials(f, magnitude, () => f.i32(0).op('return'), INFINITY, false);
  // 1/√ of an even power of two is exact.
  f.get(magnitude).i32(0xffffff).op('i32And').i32(0x800000).op('i32Eq').if();
  f.i32(127);
  pushHalfExponent(f, magnitude);
  f.op('i32Sub').i32(23).op('i32Shl').op('return').end();
  f.i32(126);
  pushHalfExponent(f, magnitude);
  f.op('i32Sub').i32(23).op('i32Shl');
  pushOfRoot(
    f,
    magnitude,
    [specialFunctionRows.rootReciprocal, specialFunctionRows.rootReciprocalOdd],
    [16, 16],
  );
  return f.op('i32Add');
}

function unitRoot(): FunctionBuilder {
  const f = new FunctionBuilder(['i32'], ['i32']);
  const magnitude = f.local('i32');
  returnSpecials(f, magnitude, () => f.i32(INFINITY).op('return'), 0, false);
  f.i32(127);
  pushHalfExponent(f, magnitude);
  f.op('i32Add').i32(23).op('i32Shl');
  pushOfRoot(f, magnitude, [specialFunctionRows.root, specialFunctionRows.rootOdd], [17, 16]);
  return f.op('i32Add');
}

/** Pushes `ifTrue` where the magnitude of an f32 local is below the least normal number, else `ifFalse`. */
function pushScale(f: FunctionBuilder, x: number, ifTrue: number, ifFalse: number): FunctionBuilder {
  return f
    .f32(ifTrue)
    .f32(ifFalse)
    .get(x)
    .op('f32Abs')
    .f32(2 ** -126)
    .op('f32Lt')
    .op('select');
}

/** Pushes what brings an f32 local into the range whose reciprocal is a normal number. */
function pushReciprocalScale(f: FunctionBuilder, x: number): FunctionBuilder {
  f.f32(0.25);
  pushScale(f, x, 2 ** 24, 1);
  return f
    .get(x)
    .op('f32Abs')
    .f32(2 ** 126)
    .op('f32Gt')
    .op('select');
}

/** Takes an f32 from the stack and leaves the unit's function of it. */
function callUnit(f: FunctionBuilder, library: Library, name: keyof typeof units): FunctionBuilder {
  return f.op('i32ReinterpretF32').call(library.index(name)).op('f32ReinterpretI32');
}

function approximateReciprocal(library: Library): FunctionBuilder {
  const f = new FunctionBuilder(['f32'], ['f32']);
  const scale = f.local('f32');
  pushReciprocalScale(f, 0).tee(scale).get(0).op('f32Mul');
  return callUnit(f, library, 'unitReciprocal').get(scale).op('f32Mul');
}

/** Of what the unit would take for zero, the function of 2^24 times it. */
function scaledRoot(
  name: 'unitReciprocalRoot' | 'unitRoot',
  after: number,
): (library: Library) => FunctionBuilder {
  return (library) => {
    const f = new FunctionBuilder(['f32'], ['f32']);
    pushScale(f, 0, 2 ** 24, 1)
      .get(0)
      .op('f32Mul');
    callUnit(f, library, name);
    return pushScale(f, 0, after, 1).op('f32Mul');
  };
}

/** (a, b) → a · (1/b), both scaled alike; under `.ftz` the product is flushed. */
function quotient(isFull: boolean, flushes: boolean): (library: Library) => FunctionBuilder {
  return (library) => {
    const f = new FunctionBuilder(['f32', 'f32'], ['f32']);
    const scale = f.local('f32');
    if (isFull) pushReciprocalScale(f, 1);
    else if (flushes) f.f32(1);
    else pushScale(f, 1, 2 ** 24, 1);
    f.tee(scale).get(1).op('f32Mul');
    callUnit(f, library, 'unitReciprocal');
    if (flushes) f.op('f64PromoteF32');
    f.get(0).get(scale).op('f32Mul');
    if (!flushes) return f.op('f32Mul');
    return f.op('f64PromoteF32').op('f64Mul').call(library.index('roundFlushed'));
  };
}

const units = { unitReciprocal, unitReciprocalRoot, unitRoot };

export const specialFunctionMakers = {
  ...units,
  approximateReciprocal,
  approximateReciprocalRoot: scaledRoot('unitReciprocalRoot', 2 ** 12),
  approximateRoot: scaledRoot('unitRoot', 2 ** -12),
  divideApproximately: quotient(false, false),
  divideApproximatelyFlushed: quotient(false, true),
  divideFully: quotient(true, false),
  divideFullyFlushed: quotient(true, true),
};
