import type { FunctionBuilder } from '../../../wasm/index.js';
import type { FusedModel, TileForm } from '../../../tensor/index.js';
import { splat32 } from './factorVectors.js';
import type { FusedRooms } from './fusedRooms.js';
import { repeat } from './linearIndex.js';
import { interleave, vectorLocals } from './shuffles.js';
import type { HalfRounder } from './sumVectors.js';
import { halvesToFloats, pushHalfBits } from './sumVectors.js';

/** Exponents below this one of a sum go the exact way: scales stay normal numbers. */
const lowestExponent = -100;

/** Locals with addresses: of a group of 16 lines, of one of the others, and of their sums. */
export interface LinePointers {
  readonly values: number;
  readonly exponents: number;
  readonly others: number;
  readonly otherExponents: number;
  readonly c: number;
  readonly d: number;
}

/** One line against 16. */
export class FusedLine {
  private readonly accumulators: readonly number[];
  private readonly scales: readonly number[];
  private readonly totals: readonly number[];
  private readonly starts: readonly number[];
  private readonly exponent: number;
  private readonly own: number;
  private readonly factor: number;
  private readonly part: number;
  private readonly round: number;

  constructor(
    private readonly f: FunctionBuilder,
    private readonly at: LinePointers,
    private readonly rooms: FusedRooms,
    private readonly isRelaxed: boolean,
    private readonly flagged: number,
    private readonly rounder: HalfRounder,
  ) {
    this.accumulators = vectorLocals(f, 4);
    this.scales = vectorLocals(f, 4);
    this.totals = vectorLocals(f, 4);
    this.starts = vectorLocals(f, 4);
    [this.exponent = 0, this.own = 0, this.factor = 0, this.part = 0] = vectorLocals(f, 4);
    this.round = f.local('i32');
  }

  line(form: TileForm, model: FusedModel, blocks: readonly (readonly number[])[]): void {
    const { f, at, rooms, accumulators, starts, rounder } = this;
    const isLate = model.accumulator === 'end';
    const isHalf = form.d.type === 'f16';
    const isAtOnce = isHalf && model.narrowing === 'atOnce';
    const temporaries = this.totals;
    starts.forEach((start, quarter) => {
      if (form.c.type === 'f16') {
        f.get(at.c).simdMemory('v128Load16x4U', rooms.c + 8 * quarter);
        f.set(start);
        halvesToFloats(f, start, temporaries);
      } else
        f.get(at.c)
          .simdMemory('v128Load', rooms.c + 16 * quarter)
          .set(start);
      if (!isLate) f.get(start).set(accumulators[quarter] ?? 0);
    });
    if (isLate) this.flagSpecial(starts);
    blocks.forEach((places, index) => {
      this.block(places, isLate && index === 0, isAtOnce);
      // What is rounded to nought has lost its sign as well.
      if (isAtOnce)
        for (const accumulator of accumulators) {
          rounder.round(accumulator);
          splat32(f.get(accumulator), 0).simd('f32x4Add').set(accumulator);
        }
    });
    accumulators.forEach((accumulator, quarter) => {
      if (isLate) {
        f.get(accumulator)
          .get(starts[quarter] ?? 0)
          .simd('f32x4Add')
          .set(accumulator);
      }
      if (isHalf && (isLate || !isAtOnce)) rounder.round(accumulator);
      if (isHalf) {
        if (quarter % 2 === 0) f.get(at.d);
        pushHalfBits(f, accumulator, temporaries);
        if (quarter % 2 === 1)
          f.simd('i16x8NarrowI32x4U').simdMemory('v128Store', rooms.d + 8 * (quarter - 1));
      } else
        f.get(at.d)
          .get(accumulator)
          .simdMemory('v128Store', rooms.d + 16 * quarter);
    });
  }

  /** Flags infinities and NaN. */
  private flagSpecial(values: readonly number[]): void {
    const { f, flagged } = this;
    for (const value of values) {
      splat32(splat32(f.get(value), 0x7f800000).simd('v128And'), 0x7f800000).simd('i32x4Eq');
      f.get(flagged).simd('v128Or').set(flagged);
    }
  }

  /** Pushes 16 exponents of the accumulators as i8, and flags what is no number. */
  private pushExponents(): void {
    const { f, accumulators, flagged, part } = this;
    accumulators.forEach((accumulator, quarter) => {
      f.get(accumulator).i32(1).simd('i32x4Shl').i32(24).simd('i32x4ShrU').tee(part);
      splat32(f, 1).simd('i32x4MaxU');
      splat32(f.get(part), 255).simd('i32x4Eq').get(flagged).simd('v128Or').set(flagged);
      splat32(f.get(accumulator).i32(1).simd('i32x4Shl'), 0).simd('i32x4Eq');
      splat32(splat32(f, -256).simd('v128And'), 127).simd('i32x4Sub');
      f.simd('i32x4Add');
      if (quarter % 2 === 1) f.simd('i16x8NarrowI32x4S');
    });
    f.simd('i8x16NarrowI16x8S');
  }

  /** Adds a block's products to the accumulators; `isOdd`: a result that is not exact has its last bit set, for a second rounding. */
  private block(places: readonly number[], isFirst: boolean, isOdd: boolean): void {
    const { f, at, rooms, exponent, own, flagged } = this;
    const { accumulators, scales, totals, factor } = this;
    if (isFirst) splat32(f, 0x80808080).set(exponent);
    else {
      this.pushExponents();
      f.tee(own).set(exponent);
    }
    const exponentSteps = [
      [at.exponents, 16],
      [at.otherExponents, 1],
    ] as const;
    this.eachPlace(places, exponentSteps, (place) => {
      f.get(exponent);
      f.get(at.exponents).simdMemory('v128Load', rooms.wideExponents + 16 * place);
      f.get(at.otherExponents).simdMemory('v128Load8Splat', rooms.singleExponents + place);
      f.simd('i8x16AddSatS').simd('i8x16MaxS').set(exponent);
    });
    const lowest = (lowestExponent & 0xff) * 0x01010101;
    if (!isFirst) {
      splat32(f.get(exponent), lowest).simd('i8x16LtS');
      splat32(f.get(own), 0x80808080).simd('i8x16GtS');
      f.simd('v128And').get(flagged).simd('v128Or').set(flagged);
    }
    splat32(f.get(exponent), lowest).simd('i8x16MaxS').set(exponent);
    this.eachExponent((quarter) => {
      // The scale, and with its exponent turned about, what undoes it.
      splat32(f, 127 + 25);
      f.get(this.part).simd('i32x4Sub').i32(23).simd('i32x4Shl');
      f.set(scales[quarter] ?? 0);
    });
    totals.forEach((total) => {
      splat32(f, 0).set(total);
    });
    const valueSteps = [
      [at.values, 64],
      [at.others, 4],
    ] as const;
    this.eachPlace(places, valueSteps, (place) => {
      f.get(at.others).simdMemory('v128Load32Splat', rooms.single + 4 * place);
      f.set(factor);
      totals.forEach((total, quarter) => {
        f.get(total);
        f.get(at.values).simdMemory('v128Load', rooms.wide + 64 * place + 16 * quarter);
        f.get(factor).simd('f32x4Mul');
        f.get(scales[quarter] ?? 0).simd('f32x4Mul');
        this.cut();
        f.simd('i32x4Add').set(total);
      });
    });
    totals.forEach((total, quarter) => {
      this.settle(total, accumulators[quarter] ?? 0, scales[quarter] ?? 0, isFirst, isOdd);
    });
  }

  /**
   * Runs `body` for each place along k in a loop that moves pointers by bytes a place, of as few places a round as they allow: of many
   * V8 loads all vectors before it uses the first, and has to put them away.
   */
  private eachPlace(
    places: readonly number[],
    pointers: readonly (readonly [pointer: number, bytes: number])[],
    body: (place: number) => void,
  ): void {
    const { f } = this;
    const [first = 0] = places;
    const written = [1, 2, 4].find((length) =>
      places.every(
        (place, at) => at < length || place - (places[at - length] ?? 0) === (places[length] ?? 0) - first,
      ),
    );
    if (written === undefined || places.length % written !== 0)
      throw new RangeError('products dealt in no order');
    const step = (places[written] ?? 0) - first;
    const rounds = places.length / written;
    const move = (by: number): void => {
      for (const [pointer, bytes] of pointers)
        f.get(pointer)
          .i32(by * bytes)
          .op('i32Add')
          .set(pointer);
    };
    repeat(f, this.round, rounds, () => {
      places.slice(0, written).forEach(body);
      move(step);
    });
    move(-rounds * step);
  }

  private cut(): void {
    this.f.simd(this.isRelaxed ? 'i32x4RelaxedTruncF32x4S' : 'i32x4TruncSatF32x4S');
  }

  /** Runs `body` with each four of the 16 exponents as i32 in `part`. */
  private eachExponent(body: (quarter: number) => void): void {
    const { f, exponent, part } = this;
    (['Low', 'High'] as const).forEach((half, first) => {
      (['Low', 'High'] as const).forEach((quarter, second) => {
        f.get(exponent).simd(`i16x8Extend${half}I8x16S`).simd(`i32x4Extend${quarter}I16x8S`).set(part);
        body(2 * first + second);
      });
    });
  }

  /** The products' sum and the accumulator, cut to f32. */
  private settle(total: number, accumulator: number, scale: number, isFirst: boolean, isOdd: boolean): void {
    const { f, part, factor } = this;
    if (!isFirst) {
      f.get(accumulator).get(scale).simd('f32x4Mul');
      this.cut();
      f.set(factor);
    }
    for (const half of ['low', 'high'] as const) {
      for (const [addend, isUsed] of [
        [total, true],
        [factor, !isFirst],
      ] as const) {
        if (!isUsed) continue;
        f.get(addend);
        if (half === 'high') f.get(addend).shuffleWords(2, 3, 2, 3);
        f.simd('f64x2ConvertLowI32x4S');
        if (addend === factor) f.simd('f64x2Add');
      }
      if (isOdd) {
        // What is cut away sets the last bit that stays.
        f.tee(part).v128(0xe0000000, 0xffffffff, 0xe0000000, 0xffffffff).simd('v128And');
        f.get(part).v128(0x1fffffff, 0, 0x1fffffff, 0).simd('v128And');
        f.v128(0, 0, 0, 0).simd('i64x2Ne').v128(0x20000000, 0, 0x20000000, 0).simd('v128And').simd('v128Or');
      } else f.v128(0xe0000000, 0xffffffff, 0xe0000000, 0xffffffff).simd('v128And');
      f.simd('f32x4DemoteF64x2Zero');
    }
    interleave(f, 64, 'low');
    // 2^(127 + 25 - E) is undone by 2^(E - 25): exponents of the two add up to those of one, twice.
    splat32(f, (254 << 23) >>> 0)
      .get(scale)
      .simd('i32x4Sub');
    f.simd('f32x4Mul').set(accumulator);
  }
}
