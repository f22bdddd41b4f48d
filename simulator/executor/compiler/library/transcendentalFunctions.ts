import { specialFunctionRows } from '../../arithmetic/index.js';
import { FunctionBuilder } from '../../../wasm/index.js';
import { AREA } from '../area/index.js';
import type { Library } from './library.js';
import { pushSum, ROW_BYTES } from './specialFunctions.js';

/**
 * The special function unit's logarithm, sine, cosine and hyperbolic tangent, and the code that the assembler puts around
 * them: the same evaluation as the arithmetic definitions (`arithmetic/specialFunctions.ts`, `approximate.ts`).
 */

const INFINITY = 0x7f800000;
const NAN = 0x7fffffff;
const SIGN = -0x80000000;
const ONE = 0x3f800000;
const LEAST_NORMAL = 0x00800000;
const FRACTION = 0x7fffff;

/** 1/2π as the assembler writes it. */
export const TURNS = 0.15915493667125701904;

/** (sign, whole number, scale) → bits of the number times the scale, cut to 24 bits. */
function normalized(): FunctionBuilder {
  const f = new FunctionBuilder(['i32', 'i64', 'f32'], ['i32']);
  const shift = f.local('i64');
  f.i64(40).get(1).op('i64Clz').op('i64Sub').tee(shift).i64(0).get(shift).i64(0).op('i64GtS').op('select');
  f.set(shift).get(1).get(shift).op('i64ShrU').get(shift).op('i64Shl').op('f32ConvertI64U');
  return f.get(2).op('f32Mul').op('i32ReinterpretF32').get(0).op('i32Or');
}

/** Pushes the sum of 64 segments for a fraction of 23 bits. */
function pushSumOf64(f: FunctionBuilder, fraction: number, firstRow: number): FunctionBuilder {
  const [row, x] = [f.local('i32'), f.local('i32')];
  f.get(fraction).i32(17).op('i32ShrU').i32(firstRow).op('i32Add').i32(ROW_BYTES).op('i32Mul').set(row);
  f.get(fraction).i32(0x1ffff).op('i32And').set(x);
  return pushSum(f, row, x, 17);
}

function returnWhen(f: FunctionBuilder, write: () => void): void {
  f.if();
  write();
  f.op('return').end();
}

/** Exponent and logarithm of the fraction in units of 2^-36; what is negative is complemented. */
function unitLogarithm(library: Library): FunctionBuilder {
  const f = new FunctionBuilder(['i32'], ['i32']);
  const [magnitude, fraction, total, sign] = [f.local('i32'), f.local('i32'), f.local('i64'), f.local('i64')];
  f.get(0).i32(NAN).op('i32And').tee(magnitude).i32(INFINITY).op('i32GtU');
  returnWhen(f, () => f.i32(NAN));
  f.get(magnitude).i32(LEAST_NORMAL).op('i32LtU');
  returnWhen(f, () => f.i32(INFINITY | SIGN));
  f.get(0).i32(0).op('i32LtS');
  returnWhen(f, () => f.i32(NAN));
  f.get(magnitude).i32(INFINITY).op('i32Eq');
  returnWhen(f, () => f.i32(INFINITY));
  f.get(magnitude).i32(ONE).op('i32Eq');
  returnWhen(f, () => f.i32(0));
  f.get(magnitude).i32(FRACTION).op('i32And').set(fraction);
  f.get(magnitude).i32(23).op('i32ShrU').i32(127).op('i32Sub').op('i64ExtendI32S').i64(36).op('i64Shl');
  pushSumOf64(f, fraction, specialFunctionRows.logarithm).i64(2).op('i64ShrS').op('i64Add').tee(total);
  f.i64(63).op('i64ShrS').tee(sign).op('i32WrapI64').i32(SIGN).op('i32And');
  f.get(total)
    .get(sign)
    .op('i64Xor')
    .f32(2 ** -36);
  return f.call(library.index('normalized'));
}

/** Of an angle in turns, cut to 25 fraction bits: odd quarters count backwards by complement. */
function unitOfAngle(isCosine: boolean): (library: Library) => FunctionBuilder {
  return (library) => {
    const f = new FunctionBuilder(['i32'], ['i32']);
    const [magnitude, fixed, quarter] = [f.local('i32'), f.local('i32'), f.local('i32')];
    const turns = f.local('f32');
    f.get(0).i32(NAN).op('i32And').tee(magnitude).i32(INFINITY).op('i32GeU');
    returnWhen(f, () => f.i32(NAN));
    f.get(magnitude).op('f32ReinterpretI32').tee(turns).get(turns).op('f32Floor').op('f32Sub');
    f.f32(2 ** 25)
      .op('f32Mul')
      .op('i32TruncSatF32U')
      .tee(fixed);
    f.i32(23)
      .op('i32ShrU')
      .i32(isCosine ? 1 : 0)
      .op('i32Add')
      .set(quarter);
    // All bits of the fraction turn around in odd quarters.
    f.get(fixed).i32(0).get(quarter).i32(1).op('i32And').op('i32Sub').op('i32Xor').i32(FRACTION).op('i32And');
    f.set(fixed).get(quarter).i32(30).op('i32Shl').i32(SIGN).op('i32And');
    if (!isCosine) f.get(0).i32(SIGN).op('i32And').op('i32Xor');
    pushSumOf64(f, fixed, specialFunctionRows.sine).f32(2 ** -37);
    return f.call(library.index('normalized'));
  };
}

/** The operand itself below 2^-8, one from 8 on. */
function unitTangent(library: Library): FunctionBuilder {
  const f = new FunctionBuilder(['i32'], ['i32']);
  const [magnitude, fraction, row, x, binade, choosing] = [0, 1, 2, 3, 4, 5].map(() => f.local('i32')) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  f.get(0).i32(NAN).op('i32And').tee(magnitude).i32(INFINITY).op('i32GtU');
  returnWhen(f, () => f.i32(NAN));
  f.get(magnitude).i32(23).op('i32ShrU').i32(119).op('i32Sub').tee(binade).i32(0).op('i32LtS');
  returnWhen(f, () => f.get(0));
  f.get(binade).i32(11).op('i32GeS');
  returnWhen(f, () => f.get(0).i32(SIGN).op('i32And').i32(ONE).op('i32Or'));
  const binades = AREA.specialFunctions + specialFunctionRows.tangentBinades * ROW_BYTES;
  f.get(binade)
    .i32(ROW_BYTES)
    .op('i32Mul')
    .tee(binade)
    .memory('i32Load', binades + 8)
    .set(choosing);
  f.get(magnitude).i32(FRACTION).op('i32And').set(fraction);
  f.get(fraction).i32(6).get(choosing).op('i32Sub').op('i32ShrU').i32(0x1ffff).op('i32And').set(x);
  f.get(fraction).i32(23).get(choosing).op('i32Sub').op('i32ShrU').get(binade).memory('i32Load', binades);
  f.op('i32Add').i32(specialFunctionRows.tangent).op('i32Add').i32(ROW_BYTES).op('i32Mul').set(row);
  f.get(0).i32(SIGN).op('i32And');
  pushSum(f, row, x, 17).f32(2 ** -42);
  return f.call(library.index('normalized'));
}

/** f32 → f32: 24 less than of 2^24 times what the unit would take for zero. */
function logarithm2(library: Library): FunctionBuilder {
  const f = new FunctionBuilder(['f32'], ['f32']);
  const isSmall = f.local('i32');
  f.get(0)
    .op('f32Abs')
    .f32(2 ** -126)
    .op('f32Lt')
    .set(isSmall);
  f.get(0)
    .f32(2 ** 24)
    .f32(1)
    .get(isSmall)
    .op('select')
    .op('f32Mul');
  f.op('i32ReinterpretF32').call(library.index('unitLogarithm')).op('f32ReinterpretI32');
  return f.f32(24).f32(0).get(isSmall).op('select').op('f32Sub');
}

/** f32 → f32: the angle becomes turns, rounded towards zero. */
function ofAngle(name: 'unitSine' | 'unitCosine'): (library: Library) => FunctionBuilder {
  return (library) => {
    const f = new FunctionBuilder(['f32'], ['f32']);
    const [exact, bits] = [f.local('f64'), f.local('i32')];
    f.get(0).op('f64PromoteF32').f64(TURNS).op('f64Mul').tee(exact);
    f.op('f32DemoteF64').op('i32ReinterpretF32').tee(bits);
    f.get(bits).op('f32ReinterpretI32').op('f64PromoteF32').op('f64Abs').get(exact).op('f64Abs').op('f64Gt');
    f.get(exact).op('f64Abs').f64(Infinity).op('f64Lt').op('i32And').op('i32Sub');
    return f.call(library.index(name)).op('f32ReinterpretI32');
  };
}

function hyperbolicTangent(library: Library): FunctionBuilder {
  const f = new FunctionBuilder(['f32'], ['f32']);
  return f.get(0).op('i32ReinterpretF32').call(library.index('unitTangent')).op('f32ReinterpretI32');
}

export const transcendentalFunctionMakers = {
  normalized,
  unitLogarithm,
  unitSine: unitOfAngle(false),
  unitCosine: unitOfAngle(true),
  unitTangent,
  logarithm2,
  sine: ofAngle('unitSine'),
  cosine: ofAngle('unitCosine'),
  hyperbolicTangent,
} satisfies Record<string, (library: Library) => FunctionBuilder>;
