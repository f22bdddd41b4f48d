import { exponentialBias, MBARRIER } from '../../arithmetic/index.js';
import { FunctionBuilder, type ModuleBuilder, type WasmType } from '../../../wasm/index.js';
import { SEGMENT_ENTRY, SEGMENT_FLAGS } from '../../memory/index.js';
import { AREA, CACHE, faultNumber, RECORD } from '../area/index.js';
import { reachLanes } from './laneReach.js';
import { addParted } from '../counters/index.js';
import { halfFunctionMakers } from './halfFunctions.js';
import { laneFunctionMakers } from './laneFunctions.js';
import { laneSpecialFunctionMakers } from './laneSpecialFunctions.js';
import { laneTranscendentalFunctionMakers } from './laneTranscendentalFunctions.js';
import { specialFunctionMakers } from './specialFunctions.js';
import { transcendentalFunctionMakers } from './transcendentalFunctions.js';

export const CANONICAL_NAN_32 = 0x7fffffff;
export const CANONICAL_NAN_64_HIGH = 0xfff80000;

/** What `locate` returns for an access that faults; no offset is that large. */
export const NO_OFFSET_HIGH = -0x80000000;

export type LibraryFunction = keyof typeof makers;

/** Functions that compiled code calls, each added to the module when first asked for. */
export class Library {
  private readonly indices = new Map<string, number>();

  /** @param fusesMultiplyAdd whether relaxed multiply-adds may stand for `fma`. */
  constructor(
    private readonly module: ModuleBuilder,
    readonly fusesMultiplyAdd: boolean,
  ) {}

  /** Whether several threads run the code at once. */
  get isThreaded(): boolean {
    return this.module.isThreaded;
  }

  index(name: LibraryFunction): number {
    return this.once(name, makers[name]);
  }

  /** A function that is made when its name is first asked for. */
  once(name: string, make: (library: Library) => FunctionBuilder): number {
    const found = this.indices.get(name);
    if (found !== undefined) return found;
    const builder = make(this);
    const index = this.module.add(builder);
    this.indices.set(name, index);
    return index;
  }
}

function fn(params: readonly WasmType[], result: WasmType): FunctionBuilder {
  return new FunctionBuilder(params, [result]);
}

/**
 * (address, cache, size, isStore) → offset from the cached segment's base, after caching the segment that holds the
 * address; NO_OFFSET after writing the fault to the launch record.
 */
function locate(): FunctionBuilder {
  const f = fn(['i64', 'i32', 'i32', 'i32'], 'i64');
  const [low, high, middle, entry] = [f.local('i32'), f.local('i32'), f.local('i32'), f.local('i32')];
  const [offset, extent] = [f.local('i64'), f.local('i64')];
  const fail = (code: Parameters<typeof faultNumber>[0]): void => {
    f.area().i32(faultNumber(code)).memory('i32Store', RECORD.faultCode);
    f.area().get(0).memory('i64Store', RECORD.faultAddress);
    f.i64Halves(0, NO_OFFSET_HIGH).op('return');
  };
  f.get(0).get(2).i32(1).op('i32Sub').op('i64ExtendI32U').op('i64And').op('i64Eqz').op('i32Eqz').if();
  fail('misalignedAddress');
  f.end();
  f.area().memory('i32Load', RECORD.segmentCount).set(high);
  const done = f.block();
  const again = f.loop();
  f.get(low).get(high).op('i32GeU').brIf(done);
  f.get(low).get(high).op('i32Add').i32(1).op('i32ShrU').tee(middle).i32(SEGMENT_ENTRY.bytes).op('i32Mul');
  f.area().memory('i32Load', RECORD.segmentTable).op('i32Add').memory('i64Load', SEGMENT_ENTRY.base);
  f.get(0).op('i64LeU').if();
  f.get(middle).i32(1).op('i32Add').set(low).else();
  f.get(middle).set(high).end().br(again).end().end();
  f.get(low).op('i32Eqz').if();
  fail('illegalAddress');
  f.end();
  f.get(low).i32(1).op('i32Sub').i32(SEGMENT_ENTRY.bytes).op('i32Mul');
  f.area().memory('i32Load', RECORD.segmentTable).op('i32Add').set(entry);
  f.get(0).get(entry).memory('i64Load', SEGMENT_ENTRY.base).op('i64Sub').set(offset);
  f.get(entry).memory('i64Load', SEGMENT_ENTRY.extent).set(extent);
  f.get(offset).get(extent).op('i64GeU');
  f.get(extent).get(offset).op('i64Sub').get(2).op('i64ExtendI32U').op('i64LtU').op('i32Or');
  f.get(entry)
    .memory('i32Load', SEGMENT_ENTRY.flags)
    .i32(SEGMENT_FLAGS.backed)
    .op('i32And')
    .op('i32Eqz')
    .op('i32Or')
    .if();
  fail('illegalAddress');
  f.end();
  f.get(3)
    .get(entry)
    .memory('i32Load', SEGMENT_ENTRY.flags)
    .i32(SEGMENT_FLAGS.writable)
    .op('i32And')
    .op('i32Eqz');
  f.op('i32And').if();
  fail('writeToReadOnly');
  f.end();
  f.get(1).get(entry).memory('i64Load', SEGMENT_ENTRY.base).memory('i64Store', CACHE.base);
  f.get(1)
    .get(extent)
    .get(2)
    .op('i64ExtendI32U')
    .op('i64Sub')
    .get(2)
    .op('i32Ctz')
    .op('i64ExtendI32U')
    .op('i64ShrU');
  f.i64(1).op('i64Add').memory('i64Store', CACHE.limit);
  f.get(1).get(entry).memory('i32Load', SEGMENT_ENTRY.offset).memory('i32Store', CACHE.offset);
  f.get(offset);
  return f;
}

/** (product, addend, sum) as doubles → the f32 nearest to product + addend, when the sum alone may mislead. */
function fusedSlow(library: Library): FunctionBuilder {
  const f = fn(['f64', 'f64', 'f64'], 'f32');
  f.get(0).get(1).get(2).call(library.index('sumToOdd')).op('f32DemoteF64');
  return f;
}

/** (a, b, c) → a · b + c rounded once under `.ftz`, of operands that are flushed already. */
function fusedFlushed(library: Library): FunctionBuilder {
  const f = fn(['f32', 'f32', 'f32'], 'f32');
  const product = f.local('f64');
  f.get(0).op('f64PromoteF32').get(1).op('f64PromoteF32').op('f64Mul').tee(product);
  f.get(2).op('f64PromoteF32').get(product).get(2).op('f64PromoteF32').op('f64Add');
  f.call(library.index('sumToOdd')).call(library.index('roundFlushed'));
  return f;
}

/** (a, b, a + b rounded) → a + b rounded to odd in 53 bits: any later rounding to fewer bits is as of the exact sum. */
function sumToOdd(): FunctionBuilder {
  const f = fn(['f64', 'f64', 'f64'], 'f64');
  const [error, part, bits] = [f.local('f64'), f.local('f64'), f.local('i64')];
  f.get(2).get(0).op('f64Sub').set(part);
  f.get(0).get(2).get(part).op('f64Sub').op('f64Sub').get(1).get(part).op('f64Sub').op('f64Add').set(error);
  // An exact sum, an infinity or a NaN stays; so does an odd one.
  f.get(error).f64(0).op('f64Eq').get(error).get(error).op('f64Ne').op('i32Or');
  f.get(2).op('i64ReinterpretF64').tee(bits).i64(1).op('i64And').op('i32WrapI64').op('i32Or').if();
  f.get(2).op('return').end();
  f.get(bits).i64(1).i64(-1);
  f.get(error).f64(0).op('f64Gt').get(2).f64(0).op('f64Gt').op('i32Eq').op('select');
  f.op('i64Add').op('f64ReinterpretI64');
  return f;
}

/** (a, b, mode) with a + b the exact value: rounded to f32 towards zero (0), −∞ (1) or +∞ (2). */
function sumDirected(): FunctionBuilder {
  const f = fn(['f64', 'f64', 'i32'], 'f32');
  const [sum, part, error, difference] = [f.local('f64'), f.local('f64'), f.local('f64'), f.local('f64')];
  const [near, bits, step] = [f.local('f32'), f.local('i32'), f.local('i32')];
  f.get(0).get(1).op('f64Add').tee(sum).op('f32DemoteF64').set(near);
  // Infinite or NaN operands have nothing to round; an f64 sum of finite f32 products never overflows.
  f.get(sum).get(sum).op('f64Sub').f64(0).op('f64Ne').if();
  f.get(near).op('return').end();
  f.get(sum).f64(0).op('f64Eq').if();
  // A sum that cancels is −0 rounding down; zeros of one sign keep it.
  f.get(2).i32(1).op('i32Eq').if();
  f.f32Bits(0x80000000).get(near);
  f.get(0)
    .op('i64ReinterpretF64')
    .get(1)
    .op('i64ReinterpretF64')
    .op('i64Xor')
    .i64(0)
    .op('i64LtS')
    .op('select')
    .op('return');
  f.end().get(near).op('return').end();
  f.get(sum).get(0).op('f64Sub').set(part);
  f.get(0).get(sum).get(part).op('f64Sub').op('f64Sub').get(1).get(part).op('f64Sub').op('f64Add').set(error);
  f.get(sum)
    .get(near)
    .op('f64PromoteF32')
    .op('f64Sub')
    .tee(difference)
    .get(error)
    .get(difference)
    .f64(0)
    .op('f64Ne');
  f.op('select').set(difference);
  // Step down when the exact value is below the nearest f32 and the mode rounds down there; up likewise.
  f.get(difference).f64(0).op('f64Lt').get(2).i32(1).op('i32Eq');
  f.get(2).op('i32Eqz').get(sum).f64(0).op('f64Gt').op('i32And').op('i32Or').op('i32And').if();
  f.i32(-1).set(step).end();
  f.get(difference).f64(0).op('f64Gt').get(2).i32(2).op('i32Eq');
  f.get(2).op('i32Eqz').get(sum).f64(0).op('f64Lt').op('i32And').op('i32Or').op('i32And').if();
  f.i32(1).set(step).end();
  f.get(step).op('i32Eqz').if();
  f.get(near).op('return').end();
  f.get(near).f32(0).op('f32Eq').if();
  f.i32(1)
    .i32(0x80000001 | 0)
    .get(step)
    .i32(0)
    .op('i32GtS')
    .op('select')
    .op('f32ReinterpretI32')
    .op('return')
    .end();
  f.get(near).op('i32ReinterpretF32').tee(bits);
  f.get(step)
    .i32(0)
    .get(step)
    .op('i32Sub')
    .get(bits)
    .i32(0)
    .op('i32GeS')
    .op('select')
    .op('i32Add')
    .op('f32ReinterpretI32');
  return f;
}

function flush(): FunctionBuilder {
  const f = fn(['f32'], 'f32');
  f.f32(0)
    .get(0)
    .op('f32Copysign')
    .get(0)
    .get(0)
    .op('f32Abs')
    .f32(2 ** -126)
    .op('f32Lt')
    .op('select');
  return f;
}

/** A double rounded to f32 under `.ftz`: what would be subnormal if exponents had no end becomes a zero of its sign. */
function roundFlushed(): FunctionBuilder {
  const f = fn(['f64'], 'f32');
  // Halfway between the least normal f32 and the number below it that 24 bits would hold.
  f.f32(0).get(0).op('f32DemoteF64').op('f32Copysign').get(0).op('f32DemoteF64');
  f.get(0)
    .op('f64Abs')
    .f64(2 ** -126 * (1 - 2 ** -25))
    .op('f64Lt')
    .op('select');
  return f;
}

/** The first NaN of two doubles, quieted; the canonical one when both are numbers. */
function passNan(): FunctionBuilder {
  const f = fn(['f64', 'f64'], 'f64');
  f.get(0).op('i64ReinterpretF64').get(1).op('i64ReinterpretF64').i64Halves(0, CANONICAL_NAN_64_HIGH);
  f.get(1).get(1).op('f64Ne').op('select');
  f.get(0).get(0).op('f64Ne').op('select').i64Halves(0, 0x80000).op('i64Or').op('f64ReinterpretI64');
  return f;
}

/** f32 bits of a NaN → the f64 with its payload, quieted. */
function widenNan(): FunctionBuilder {
  const f = fn(['i32'], 'f64');
  f.get(0).op('i64ExtendI32U').i64Halves(-0x80000000, 0).op('i64And').i64(32).op('i64Shl');
  f.get(0).op('i64ExtendI32U').i64(0x7fffff).op('i64And').i64(29).op('i64Shl').op('i64Or');
  f.i64Halves(0, 0x7ff80000).op('i64Or').op('f64ReinterpretI64');
  return f;
}

/** f64 bits of a NaN → the f32 with the upper bits of its payload, quieted. */
function narrowNan(): FunctionBuilder {
  const f = fn(['i64'], 'f32');
  f.get(0).i64(32).op('i64ShrU').op('i32WrapI64').i32(-0x80000000).op('i32And');
  f.get(0).i64(29).op('i64ShrU').op('i32WrapI64').i32(0x3fffff).op('i32And').op('i32Or');
  f.i32(0x7fc00000).op('i32Or').op('f32ReinterpretI32');
  return f;
}

function saturate(): FunctionBuilder {
  const f = fn(['f32'], 'f32');
  f.get(0).f32(1).op('f32Min').f32(0).get(0).f32(0).op('f32Gt').op('select');
  return f;
}

/** The same interpolation as `exponential2` of the arithmetic definitions, with its table in the executor's area. */
function exponential2(): FunctionBuilder {
  const f = fn(['f32'], 'f32');
  const [isLow, fixed, low, upper] = [f.local('i32'), f.local('i32'), f.local('i32'), f.local('i32')];
  const [x, result, word] = [f.local('f32'), f.local('f32'), f.local('i64')];
  f.f32(0.5).f32(1).get(0).f32(-126).op('f32Lt').tee(isLow).op('select').get(0).op('f32Mul').tee(x);
  f.f32(-126).op('f32Ge').get(x).f32(128).op('f32Lt').op('i32And').op('i32Eqz').if();
  // A NaN stays one, what is large becomes infinite, what is below −252 zero.
  f.f32(0).get(0).f32(Infinity).op('f32Mul').get(isLow).op('select').op('return').end();
  f.get(x)
    .f32(2 ** 23)
    .op('f32Mul')
    .op('i32TruncSatF32S')
    .tee(fixed);
  f.get(fixed).i32(0).op('i32LtS').get(fixed).i32(0x7fffff).op('i32And').i32(0).op('i32Ne').op('i32And');
  f.op('i32Sub').tee(fixed);
  f.i32(14).op('i32ShrU').i32(0x1f8).op('i32And').memory('i64Load', AREA.exponentials).set(word);
  f.get(fixed).i32(0x1ffff).op('i32And').tee(low).i32(9).op('i32ShrU').set(upper);
  f.get(word).i64(13).op('i64ShrU').i64(-0x2000).op('i64And').i64(exponentialBias).op('i64Add');
  f.get(word).i64(10).op('i64ShrU').i64(0xffff).op('i64And').get(low).op('i64ExtendI32U').op('i64Mul');
  f.op('i64Add').get(word).i64(0x3ff).op('i64And');
  f.get(upper).get(upper).op('i32Mul').i32(1).op('i32ShrU');
  for (let bit = 2; bit <= 8; bit++) {
    // The bit becomes a mask by way of the sign.
    f.get(low)
      .i32(31 - bit)
      .op('i32Shl')
      .i32(31)
      .op('i32ShrS');
    f.get(low)
      .i32(18 - bit)
      .op('i32ShrU')
      .op('i32And')
      .op('i32Add');
  }
  f.op('i64ExtendI32U').op('i64Mul').op('i64Add').i64(15).op('i64ShrU').op('i32WrapI64');
  f.get(fixed).i32(23).op('i32ShrS').i32(126).op('i32Add').i32(23).op('i32Shl').op('i32Add');
  f.op('f32ReinterpretI32').tee(result);
  f.get(result).f32(1).get(isLow).op('select').op('f32Mul');
  return f;
}

function divide(type: 'i32' | 'i64', what: 'DivS' | 'DivU' | 'RemS' | 'RemU'): FunctionBuilder {
  const f = fn([type, type], type);
  const constant = (value: number): FunctionBuilder => (type === 'i32' ? f.i32(value) : f.i64(value));
  f.get(1).op(`${type}Eqz`).if();
  constant(-1).op('return').end();
  if (what === 'DivS' || what === 'RemS') {
    f.get(1);
    constant(-1).op(`${type}Eq`).if();
    constant(0);
    if (what === 'DivS') f.get(0).op(`${type}Sub`);
    f.op('return').end();
  }
  f.get(0).get(1).op(`${type}${what}`);
  return f;
}

/** High 64 bits of a product of 64-bit factors, by 32-bit halves. */
function multiplyHigh(isSigned: boolean): FunctionBuilder {
  const f = fn(['i64', 'i64'], 'i64');
  const [aLow, bLow, aHigh, bHigh, middle, other] = [
    f.local('i64'),
    f.local('i64'),
    f.local('i64'),
    f.local('i64'),
    f.local('i64'),
    f.local('i64'),
  ];
  f.get(0).i64(0xffffffff).op('i64And').set(aLow).get(0).i64(32).op('i64ShrU').set(aHigh);
  f.get(1).i64(0xffffffff).op('i64And').set(bLow).get(1).i64(32).op('i64ShrU').set(bHigh);
  f.get(aHigh)
    .get(bLow)
    .op('i64Mul')
    .get(aLow)
    .get(bLow)
    .op('i64Mul')
    .i64(32)
    .op('i64ShrU')
    .op('i64Add')
    .set(middle);
  f.get(aLow).get(bHigh).op('i64Mul').get(middle).i64(0xffffffff).op('i64And').op('i64Add').set(other);
  f.get(aHigh).get(bHigh).op('i64Mul').get(middle).i64(32).op('i64ShrU').op('i64Add');
  f.get(other).i64(32).op('i64ShrU').op('i64Add');
  if (isSigned) {
    f.get(1).i64(0).get(0).i64(0).op('i64LtS').op('select').op('i64Sub');
    f.get(0).i64(0).get(1).i64(0).op('i64LtS').op('select').op('i64Sub');
  }
  return f;
}

/** f16 bits → f32. */
function halfToFloat(): FunctionBuilder {
  const f = fn(['i32'], 'f32');
  const magnitude = f.local('i32');
  const value = f.local('f32');
  f.get(0).i32(0x7fff).op('i32And').tee(magnitude).i32(0x7c00).op('i32GeU').if('f32');
  // Infinity keeps its sign; a NaN becomes one.
  f.f32Bits(CANONICAL_NAN_32).f32(Infinity).get(magnitude).i32(0x7c00).op('i32GtU').op('select').else();
  // Moving the exponent field and scaling by 2^112 makes subnormals right too.
  f.get(magnitude)
    .i32(13)
    .op('i32Shl')
    .op('f32ReinterpretI32')
    .f32(2 ** 112)
    .op('f32Mul')
    .end()
    .set(value);
  f.get(value).f32(-1).f32(1).get(0).i32(0x8000).op('i32And').op('select').op('f32Copysign');
  return f;
}

/** (64 bits of an mbarrier, what happens to it) → its bits then: see `arithmetic/mbarrierState.ts`. */
function advanceMbarrier(): FunctionBuilder {
  const f = fn(['i64', 'i64'], 'i64');
  const { arrivals, expected, pending, transactions } = MBARRIER;
  const [count, expectedNow, pendingNow, bytes] = [
    f.local('i64'),
    f.local('i64'),
    f.local('i64'),
    f.local('i64'),
  ];
  const phase = f.local('i64');
  const mask = (bits: number): FunctionBuilder => f.i64(2 ** bits - 1).op('i64And');
  const field = ({ at, bits }: { readonly at: number; readonly bits: number }): FunctionBuilder => {
    f.get(0).i64(at).op('i64ShrU');
    return mask(bits);
  };
  f.get(1).i64(arrivals.at).op('i64ShrU');
  mask(arrivals.bits).set(count);
  field(expected).get(count).i64(0).get(1).i64(0).op('i64LtS').op('select').op('i64Add');
  mask(expected.bits).set(expectedNow);
  field(pending).get(count).op('i64Add');
  mask(pending.bits).set(pendingNow);
  field(transactions).get(1).op('i64Add');
  mask(transactions.bits).set(bytes);
  f.get(0).i64Halves(0, -0x80000000).op('i64And').set(phase);
  f.get(pendingNow).get(bytes).op('i64Or').op('i64Eqz').if();
  f.get(expectedNow).set(pendingNow);
  f.get(phase).i64Halves(0, -0x80000000).op('i64Xor').set(phase).end();
  f.get(phase);
  f.get(pendingNow).i64(pending.at).op('i64Shl').op('i64Or');
  f.get(bytes).i64(transactions.at).op('i64Shl').op('i64Or');
  f.get(expectedNow).i64(expected.at).op('i64Shl').op('i64Or');
  return f;
}

const makers = {
  locate,
  reachLanes,
  addParted,
  fusedSlow,
  fusedFlushed,
  sumToOdd,
  sumDirected,
  flush,
  roundFlushed,
  passNan,
  widenNan,
  narrowNan,
  saturate,
  exponential2,
  ...specialFunctionMakers,
  ...transcendentalFunctionMakers,
  ...laneFunctionMakers,
  ...halfFunctionMakers,
  ...laneSpecialFunctionMakers,
  ...laneTranscendentalFunctionMakers,
  halfToFloat,
  advanceMbarrier,
  divS32: () => divide('i32', 'DivS'),
  divU32: () => divide('i32', 'DivU'),
  remS32: () => divide('i32', 'RemS'),
  remU32: () => divide('i32', 'RemU'),
  divS64: () => divide('i64', 'DivS'),
  divU64: () => divide('i64', 'DivU'),
  remS64: () => divide('i64', 'RemS'),
  remU64: () => divide('i64', 'RemU'),
  mulHighS64: () => multiplyHigh(true),
  mulHighU64: () => multiplyHigh(false),
} satisfies Record<string, (library: Library) => FunctionBuilder>;
