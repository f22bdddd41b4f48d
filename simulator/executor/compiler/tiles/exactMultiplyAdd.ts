import { FunctionBuilder } from '../../../wasm/index.js';
import type { Rounding } from '../../../tensor/index.js';

const signBit = [0, -0x80000000] as const;
const infinity = [0, 0x7ff00000] as const;

/**
 * (a, b, c) → a · b + c of doubles' bits, rounded once. A NaN is b's, else c's, else a's, made quiet, and of an invalid sum the negative
 * quiet one, as an H200 has it.
 */
export function exactMultiplyAdd(rounding: Rounding): FunctionBuilder {
  const f = new FunctionBuilder(['i64', 'i64', 'i64'], ['i64']);
  const [a, b, c] = [0, 1, 2];
  const [sign, other] = [f.local('i64'), f.local('i64')];
  pushIsSpecial(f, a);
  pushIsSpecial(f, b);
  pushIsSpecial(f, c);
  f.op('i32Or').op('i32Or').if();
  specialSum(f);
  f.op('return').end();

  // Signs of the product and of c.
  f.get(a)
    .get(b)
    .op('i64Xor')
    .i64Halves(...signBit)
    .op('i64And')
    .set(sign);
  f.get(c)
    .i64Halves(...signBit)
    .op('i64And')
    .set(other);
  const magnitude = (local: number): void => {
    f.get(local).i64(1).op('i64Shl');
  };
  magnitude(a);
  f.op('i64Eqz');
  magnitude(b);
  f.op('i64Eqz').op('i32Or').if();
  magnitude(c);
  f.op('i64Eqz').if();
  pushZero(f, rounding, sign, other);
  f.op('return').end();
  f.get(c).op('return').end();

  const product = new Wide(f);
  const addend = new Wide(f);
  const [left, right] = [new Normal(f), new Normal(f)];
  const third = new Normal(f);
  left.read(a);
  right.read(b);
  // 105 or 106 bits of the product, with their top at 125.
  multiply(f, left.significand, right.significand, product);
  product.shiftLeft(20);
  f.get(left.exponent).get(right.exponent).op('i32Add').i32(20).op('i32Sub').set(product.exponent);
  magnitude(c);
  f.op('i64Eqz').if();
  // No addend: it is nought at any exponent.
  f.get(product.exponent).set(addend.exponent).else();
  third.read(c);
  f.get(third.significand).i64(8).op('i64Shl').set(addend.high);
  f.get(third.exponent).i32(72).op('i32Sub').set(addend.exponent).end();

  // What is smaller in scale comes to the other's; bits that go set the last one, which is far below what is rounded.
  const shift = f.local('i32');
  f.get(product.exponent).get(addend.exponent).op('i32Sub').tee(shift).i32(0).op('i32GtS').if();
  addend.shiftRight(shift);
  f.get(product.exponent).set(addend.exponent).else();
  f.i32(0).get(shift).op('i32Sub').set(shift);
  product.shiftRight(shift);
  f.get(addend.exponent).set(product.exponent).end();

  f.get(sign).get(other).op('i64Eq').if();
  product.add(addend);
  f.else();
  product.isBelow(addend);
  f.if();
  addend.subtract(product);
  f.get(addend.low).set(product.low).get(addend.high).set(product.high).get(other).set(sign).else();
  product.subtract(addend);
  f.end();
  f.get(product.low).get(product.high).op('i64Or').op('i64Eqz').if();
  pushZero(f, rounding, sign, other);
  f.op('return').end();
  f.end();
  roundSum(f, product, sign, rounding);
  return f;
}

function pushIsSpecial(f: FunctionBuilder, local: number): void {
  f.get(local)
    .i64Halves(...infinity)
    .op('i64And')
    .i64Halves(...infinity)
    .op('i64Eq');
}

/** Pushes the sum where an operand is no finite number. */
function specialSum(f: FunctionBuilder): void {
  const result = f.local('f64');
  for (const operand of [1, 2, 0]) {
    f.get(operand).i64(1).op('i64Shl').i64Halves(0, -0x200000).op('i64GtU').if();
    f.get(operand).i64Halves(0, 0x80000).op('i64Or').op('return').end();
  }
  // A finite product is nothing beside an infinity, also where it overflows.
  f.get(0).op('f64ReinterpretI64').get(1).op('f64ReinterpretI64').op('f64Mul').f64(0);
  pushIsSpecial(f, 0);
  pushIsSpecial(f, 1);
  f.op('i32Or').op('select');
  f.get(2).op('f64ReinterpretI64').f64(0);
  pushIsSpecial(f, 2);
  f.op('select').op('f64Add').set(result);
  f.i64Halves(0, -0x80000).get(result).op('i64ReinterpretF64');
  f.get(result).get(result).op('f64Ne').op('select');
}

/** Pushes a nought of the product's and the addend's signs. */
function pushZero(f: FunctionBuilder, rounding: Rounding, sign: number, other: number): void {
  f.get(sign)
    .get(other)
    .op(rounding === 'rm' ? 'i64Or' : 'i64And');
}

/** A finite number that is not nought: 53 bits and an exponent. */
class Normal {
  readonly significand: number;
  readonly exponent: number;
  private readonly shift: number;

  constructor(private readonly f: FunctionBuilder) {
    this.significand = f.local('i64');
    this.exponent = f.local('i32');
    this.shift = f.local('i32');
  }

  read(bits: number): void {
    const { f, significand, exponent, shift } = this;
    f.get(bits).i64Halves(-1, 0xfffff).op('i64And').set(significand);
    f.get(bits).i64(52).op('i64ShrU').op('i32WrapI64').i32(0x7ff).op('i32And').tee(exponent).if();
    f.get(significand).i64Halves(0, 0x100000).op('i64Or').set(significand).else();
    f.get(significand).op('i64Clz').i64(11).op('i64Sub').op('i32WrapI64').set(shift);
    f.get(significand).get(shift).op('i64ExtendI32U').op('i64Shl').set(significand);
    f.i32(1).get(shift).op('i32Sub').set(exponent).end();
    f.get(exponent).i32(1075).op('i32Sub').set(exponent);
  }
}

/** 128 bits and an exponent of the lowest. */
class Wide {
  readonly high: number;
  readonly low: number;
  readonly exponent: number;

  constructor(private readonly f: FunctionBuilder) {
    this.high = f.local('i64');
    this.low = f.local('i64');
    this.exponent = f.local('i32');
  }

  /** By fewer than 64 bits, and more than none. */
  shiftLeft(by: number): void {
    const { f, high, low } = this;
    f.get(high).i64(by).op('i64Shl');
    f.get(low)
      .i64(64 - by)
      .op('i64ShrU')
      .op('i64Or')
      .set(high);
    f.get(low).i64(by).op('i64Shl').set(low);
  }

  /** By what a local holds, not below 0; bits that are lost set the lowest. */
  shiftRight(by: number): void {
    const { f, high, low } = this;
    const lost = f.local('i64');
    const amount = f.local('i64');
    f.get(by).i32(64).op('i32GeU').if();
    f.get(low).set(lost);
    f.get(high).set(low).i64(0).set(high);
    f.get(by).i32(64).op('i32Sub').set(by);
    f.get(by).i32(64).op('i32GeU').if();
    f.get(lost).get(low).op('i64Or').set(lost).i64(0).set(low).i32(0).set(by).end().else();
    f.i64(0).set(lost).end();
    f.get(by).if();
    f.get(by).op('i64ExtendI32U').set(amount);
    f.get(lost).get(low).i64(64).get(amount).op('i64Sub').op('i64Shl').op('i64Or').set(lost);
    f.get(low).get(amount).op('i64ShrU');
    f.get(high).i64(64).get(amount).op('i64Sub').op('i64Shl').op('i64Or').set(low);
    f.get(high).get(amount).op('i64ShrU').set(high).end();
    f.get(low).get(lost).i64(0).op('i64Ne').op('i64ExtendI32U').op('i64Or').set(low);
  }

  add(other: Wide): void {
    const { f, high, low } = this;
    f.get(low).get(other.low).op('i64Add').set(low);
    f.get(high).get(other.high).op('i64Add');
    f.get(low).get(other.low).op('i64LtU').op('i64ExtendI32U').op('i64Add').set(high);
  }

  /** Takes one away that is not larger. */
  subtract(other: Wide): void {
    const { f, high, low } = this;
    f.get(high).get(other.high).op('i64Sub');
    f.get(low).get(other.low).op('i64LtU').op('i64ExtendI32U').op('i64Sub').set(high);
    f.get(low).get(other.low).op('i64Sub').set(low);
  }

  /** Pushes whether it is less. */
  isBelow(other: Wide): void {
    const { f, high, low } = this;
    f.get(high).get(other.high).op('i64LtU');
    f.get(high).get(other.high).op('i64Eq').get(low).get(other.low).op('i64LtU').op('i32And').op('i32Or');
  }
}

/** The product of two numbers of 53 bits. */
function multiply(f: FunctionBuilder, left: number, right: number, into: Wide): void {
  const [lowLeft, lowRight, highLeft, highRight] = [
    f.local('i64'),
    f.local('i64'),
    f.local('i64'),
    f.local('i64'),
  ];
  const middle = f.local('i64');
  for (const [from, low, high] of [
    [left, lowLeft, highLeft],
    [right, lowRight, highRight],
  ] as const) {
    f.get(from).i64(0xffffffff).op('i64And').set(low);
    f.get(from).i64(32).op('i64ShrU').set(high);
  }
  f.get(lowLeft).get(lowRight).op('i64Mul').set(into.low);
  // Factors' high parts have 21 bits: their products with low ones do not overflow, nor does the sum of two.
  f.get(lowLeft).get(highRight).op('i64Mul').get(highLeft).get(lowRight).op('i64Mul').op('i64Add');
  f.get(into.low).i64(32).op('i64ShrU').op('i64Add').set(middle);
  f.get(into.low).i64(0xffffffff).op('i64And').get(middle).i64(32).op('i64Shl').op('i64Or').set(into.low);
  f.get(highLeft).get(highRight).op('i64Mul').get(middle).i64(32).op('i64ShrU').op('i64Add').set(into.high);
}

/** Pushes a sum that is not nought, rounded to a double's bits. */
function roundSum(f: FunctionBuilder, sum: Wide, sign: number, rounding: Rounding): void {
  const [top, quantum, shift] = [f.local('i32'), f.local('i32'), f.local('i32')];
  const [steps, rest, bits] = [f.local('i64'), f.local('i64'), f.local('i64')];
  f.i64(127).get(sum.high).op('i64Clz').op('i64Sub');
  f.i64(63).get(sum.low).op('i64Clz').op('i64Sub');
  f.get(sum.high).op('i64Eqz').op('i32Eqz').op('select').op('i32WrapI64').set(top);
  f.get(top).get(sum.exponent).op('i32Add').i32(52).op('i32Sub').tee(quantum).i32(-1074);
  f.get(quantum).i32(-1074).op('i32GtS').op('select').set(quantum);
  // Two bits more than stay: one of the half, one of all below.
  f.get(quantum).get(sum.exponent).op('i32Sub').i32(2).op('i32Sub').tee(shift).i32(0).op('i32GeS').if();
  sum.shiftRight(shift);
  f.else();
  f.get(sum.low).i32(0).get(shift).op('i32Sub').op('i64ExtendI32U').op('i64Shl').set(sum.low).end();
  f.get(sum.low).i64(2).op('i64ShrU').set(steps);
  f.get(sum.low).i64(3).op('i64And').set(rest);
  if (rounding === 'rn') {
    // More than half, or half of an odd one.
    f.get(rest).get(steps).i64(1).op('i64And').op('i64Add').i64(2).op('i64GtU');
  } else if (rounding === 'rz') f.i32(0);
  else {
    f.get(rest).op('i64Eqz').op('i32Eqz');
    f.get(sign).op('i64Eqz');
    if (rounding === 'rm') f.op('i32Eqz');
    f.op('i32And');
  }
  f.op('i64ExtendI32U').get(steps).op('i64Add').set(steps);
  // 53 bits, or one more after a carry: the leading one adds to the exponent.
  f.get(quantum).i32(1074).op('i32Add').op('i64ExtendI32U').i64(52).op('i64Shl').i64(0);
  f.get(steps).i64Halves(0, 0x100000).op('i64GeU').op('select');
  f.get(steps).op('i64Add').set(bits);
  f.get(bits)
    .i64Halves(...infinity)
    .op('i64GeU')
    .if();
  f.i64Halves(...infinity);
  if (rounding === 'rz') f.i64(1).op('i64Sub');
  else if (rounding !== 'rn') {
    f.get(sign).op('i64Eqz');
    if (rounding === 'rp') f.op('i32Eqz');
    f.op('i64ExtendI32U').op('i64Sub');
  }
  f.set(bits).end();
  f.get(bits).get(sign).op('i64Or');
}
