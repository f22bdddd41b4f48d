import { FunctionBuilder } from '../../../wasm/index.js';
import { chunkOf, fusedContext, type FusedModel, type TileForm } from '../../../tensor/index.js';
import type { Library } from '../library/index.js';
import { SCRATCH, RESULT, wordOffsets, WORDS } from './elements.js';
import { factorVectors, pushHalves, type FactorVectors } from './factorVectors.js';
import { vectorPlan, type FactorBlocks, type SumBlocks, type VectorPlan } from './fragments.js';
import { linearIndex, pushIndex, repeat } from './linearIndex.js';
import { transpose, vectorLocals } from './shuffles.js';
import { SparseLines } from './sparseLines.js';
import { HalfRounder } from './sumVectors.js';
import { FusedLine } from './fusedLine.js';
import { fusedRooms, type FusedRooms } from './fusedRooms.js';

export function fusedVectorsScratch(form: TileForm): number {
  return fusedRooms(form, vectorPlan(form)).bytes;
}

/**
 * A fused product 16 lines at a time. A product of two significands is exact in f32; brought to 25 bits below the largest exponent by a
 * power of two it is cut by its conversion to i32. 16 of them stay below 2^31; the accumulator joins in f64. What holds infinities, NaN or
 * exponents out of the range of {@link factorVectors} the function at index `exact` computes.
 */
export function fusedVectors(
  form: TileForm,
  model: FusedModel,
  library: Library,
  exact: number,
): FunctionBuilder {
  const f = new FunctionBuilder(['i32', 'i32', 'i32'], []);
  const plan = vectorPlan(form);
  const rooms = fusedRooms(form, plan);
  const emitter = new FusedEmitter(f, form, model, plan, rooms, library.fusesMultiplyAdd);
  emitter.readFactors();
  emitter.leaveIf(exact);
  emitter.readAccumulators();
  emitter.sum();
  emitter.leaveIfFlagged(exact);
  emitter.writeResults();
  return f;
}

class FusedEmitter {
  private readonly vectors: FactorVectors;
  private readonly counter: number;
  private readonly source: number;
  private readonly target: number;
  private readonly lines: readonly number[];
  private readonly spare: readonly number[];
  /** Any bit of it: the tile goes the exact way. */
  private readonly flagged: number;
  private readonly offsets: ReturnType<typeof wordOffsets>;
  private readonly rounder: HalfRounder;

  constructor(
    private readonly f: FunctionBuilder,
    private readonly form: TileForm,
    private readonly model: FusedModel,
    private readonly plan: VectorPlan,
    private readonly rooms: FusedRooms,
    private readonly isRelaxed: boolean,
  ) {
    this.vectors = factorVectors(f, form.a.type);
    [this.counter, this.source, this.target] = [f.local('i32'), f.local('i32'), f.local('i32')];
    this.lines = vectorLocals(f, 8);
    this.spare = vectorLocals(f, 8);
    this.flagged = f.local('v128');
    this.offsets = wordOffsets(form);
    this.rounder = new HalfRounder(f);
  }

  readFactors(): void {
    const { wide, single } = this.plan;
    this.turn(wide);
    this.decodeWide(wide);
    this.decodeSingle(single);
  }

  /** Leaves to the exact function where a factor is out of range. */
  leaveIf(exact: number): void {
    this.vectors.pushIsOut();
    this.leave(exact);
  }

  leaveIfFlagged(exact: number): void {
    this.f.get(this.flagged).simd('v128AnyTrue');
    this.leave(exact);
  }

  private leave(exact: number): void {
    const { f } = this;
    f.if();
    f.get(WORDS).get(RESULT).get(SCRATCH).call(exact).op('return').end();
  }

  private offsetOf({ operand }: FactorBlocks): number {
    return operand === this.form.a ? this.offsets.a : this.offsets.b;
  }

  /**
   * Leaves 16 lines of the wide factor by place along k. Eighths are made halves first, and sparse lines dense ones.
   */
  private turn(wide: FactorBlocks): void {
    const { f, form, rooms, counter, source, target, lines, spare } = this;
    const { k } = form.shape;
    const { bits } = this.vectors;
    const bytes = bits / 8;
    const each = 128 / bits;
    const { type } = wide.operand;
    const isMade = form.sparse !== undefined || type === 'e4m3' || type === 'e5m2';
    if (isMade) this.makeLines(wide);
    // Squares of as many lines as a vector has elements.
    const [blocks, steps] = [wide.across / 8, k / each];
    const all = Array.from(
      { length: blocks * steps },
      (_, at) => [at % blocks, Math.floor(at / blocks)] as const,
    );
    const first = isMade ? 0 : wide.register(0, 0);
    const sourceOf = (block: number, step: number): number =>
      isMade ? (block * 8 * k + step * each) * bytes : (wide.register(block, step) - first) * 128;
    const sources = linearIndex(all.map(([block, step]) => sourceOf(block, step)));
    const targets = linearIndex(
      all.map(([block, step]) => (((block >> 1) * k + step * each) * 16 + (block & 1) * 8) * bytes),
    );
    const stride = isMade ? k * bytes : 16;
    const begin = isMade ? rooms.dense : this.offsetOf(wide) + first * 128;
    repeat(f, counter, blocks * steps, () => {
      pushIndex(f, counter, sources);
      f.get(isMade ? SCRATCH : WORDS)
        .op('i32Add')
        .set(source);
      pushIndex(f, counter, targets);
      f.get(SCRATCH).op('i32Add').set(target);
      for (let line = 0; line < 8; line += each) {
        const rows = lines.slice(0, each);
        rows.forEach((row, at) => {
          f.get(source)
            .simdMemory('v128Load', begin + (line + at) * stride)
            .set(row);
        });
        transpose(f, bits, rows, spare.slice(0, each)).forEach((column, at) => {
          f.get(target).get(column);
          f.simdMemory('v128Store', rooms.raw + 16 * bytes * at + line * bytes);
        });
      }
    });
  }

  /** Leaves lines of the wide factor as dense ones of what is turned about. */
  private makeLines(wide: FactorBlocks): void {
    const { f, form, rooms, counter, source, target, lines, spare, flagged } = this;
    const { across, along, length, register, operand } = wide;
    const { type } = operand;
    const isEighth = type === 'e4m3' || type === 'e5m2';
    const sparse = form.sparse === undefined ? undefined : new SparseLines(f, form);
    const lineBytes = (form.shape.k * this.vectors.bits) / 8;
    const [line = 0] = lines;
    const block = f.local('i32');
    const blocks = Array.from({ length: across / 8 }, (_, at) => at);
    for (let step = 0; step < along / length; step++) {
      const registers = linearIndex(blocks.map((at) => (register(at, step) - register(0, step)) * 128));
      const metadata = blocks.map(
        (at) => (sparse?.offset(at, step, wide) ?? 0) - (sparse?.offset(0, step, wide) ?? 0),
      );
      const places = f.local('i32');
      repeat(f, block, blocks.length, () => {
        repeat(f, counter, 8, () => {
          pushIndex(f, block, registers);
          f.get(counter).i32(4).op('i32Shl').op('i32Add').get(WORDS).op('i32Add').set(source);
          f.get(block).i32(3).op('i32Shl').get(counter).op('i32Add').i32(lineBytes).op('i32Mul');
          f.get(SCRATCH).op('i32Add').set(target);
          f.get(source).simdMemory('v128Load', this.offsetOf(wide) + register(0, step) * 128);
          f.set(line);
          if (sparse !== undefined) {
            pushIndex(f, block, linearIndex(metadata));
            f.get(counter).i32(4).op('i32Shl').op('i32Add').get(WORDS).op('i32Add').set(places);
            sparse.load(line, places, this.offsets.metadata + sparse.offset(0, step, wide));
          }
          const parts = sparse === undefined ? [0] : [0, 1];
          let to = rooms.dense + (step * lineBytes * length) / along;
          for (const part of parts) {
            if (sparse !== undefined) {
              f.get(flagged);
              sparse.pushIsTwice(part);
              f.simd('v128Or').set(flagged);
              sparse.parts(part).forEach((push, index) => {
                push();
                if (index > 0) f.simd('v128Or');
              });
              f.set(line);
            }
            for (const half of isEighth ? (['low', 'high'] as const) : (['low'] as const)) {
              f.get(target);
              if (isEighth) pushHalves(f, type, line, half, spare[0] ?? 0);
              else f.get(line);
              f.simdMemory('v128Store', to);
              to += 16;
            }
          }
        });
      });
    }
  }

  private decodeWide({ across }: FactorBlocks): void {
    const { f, form, rooms, counter, source, target, vectors, lines } = this;
    const bytes = vectors.bits / 8;
    const each = 128 / vectors.bits;
    repeat(f, counter, (across / 16) * form.shape.k, () => {
      f.get(counter)
        .i32(16 * bytes)
        .op('i32Mul')
        .get(SCRATCH)
        .op('i32Add')
        .set(source);
      f.get(counter).i32(64).op('i32Mul').get(SCRATCH).op('i32Add').set(target);
      for (let at = 0; at < 16 / each; at++) {
        const [elements = 0] = lines;
        f.get(source)
          .simdMemory('v128Load', rooms.raw + 16 * at)
          .set(elements);
        vectors.decode(elements);
        vectors.values.forEach((value, index) => {
          f.get(target).get(value);
          f.simdMemory('v128Store', rooms.wide + 16 * (at * vectors.values.length + index));
        });
        f.get(vectors.exponents).set(lines[at + 1] ?? 0);
      }
      f.get(counter).i32(4).op('i32Shl').get(SCRATCH).op('i32Add');
      const exponents = lines.slice(1, 1 + 16 / each);
      if (vectors.bits === 32) this.pushNarrowed(exponents);
      else
        f.get(exponents[0] ?? 0)
          .get(exponents[1] ?? 0)
          .simd('i8x16NarrowI16x8S');
      f.simdMemory('v128Store', rooms.wideExponents);
    });
  }

  /** Pushes 16 i8 of four vectors of i32. */
  private pushNarrowed([a = 0, b = 0, c = 0, d = 0]: readonly number[]): void {
    this.f
      .get(a)
      .get(b)
      .simd('i16x8NarrowI32x4S')
      .get(c)
      .get(d)
      .simd('i16x8NarrowI32x4S')
      .simd('i8x16NarrowI16x8S');
  }

  private decodeSingle(single: FactorBlocks): void {
    const { f, form, rooms, counter, source, target, vectors, lines, spare } = this;
    const { across, along, length, register, operand } = single;
    const { k } = form.shape;
    const { type } = operand;
    const isEighth = type === 'e4m3' || type === 'e5m2';
    const each = 128 / vectors.bits;
    const exponents = f.local('i32');
    for (let block = 0; block < across / 8; block++) {
      repeat(f, counter, 8, () => {
        f.get(counter).i32(4).op('i32Shl').get(WORDS).op('i32Add').set(source);
        f.get(counter)
          .i32(4 * k)
          .op('i32Mul')
          .get(SCRATCH)
          .op('i32Add')
          .set(target);
        f.get(counter).i32(k).op('i32Mul').get(SCRATCH).op('i32Add').set(exponents);
        for (let step = 0; step < along / length; step++) {
          for (let part = 0; part < length / each; part++) {
            const [elements = 0] = lines;
            f.get(source).simdMemory('v128Load', this.offsetOf(single) + register(block, step) * 128);
            f.set(elements);
            if (isEighth) {
              pushHalves(f, type, elements, part === 0 ? 'low' : 'high', spare[0] ?? 0);
              f.set(elements);
            }
            vectors.decode(elements);
            const first = block * 8 * k + step * length + part * each;
            vectors.values.forEach((value, index) => {
              f.get(target).get(value);
              f.simdMemory('v128Store', rooms.single + 4 * first + 16 * index);
            });
            f.get(exponents);
            if (vectors.bits === 32)
              f.get(vectors.exponents).get(vectors.exponents).simd('i16x8NarrowI32x4S').set(elements);
            else f.get(vectors.exponents).set(elements);
            f.get(elements).get(elements).simd('i8x16NarrowI16x8S');
            f.simdMemoryLane(
              each === 8 ? 'v128Store64Lane' : 'v128Store32Lane',
              rooms.singleExponents + first,
              0,
            );
          }
        }
      });
    }
  }

  /** Runs `body` for each register of C or D (of f16) or pair of registers, with `source` at its words and `target` at its sums. */
  private eachSum(
    { operand, registers, across, firstAcross, firstOther }: SumBlocks,
    begin: number,
    words: number,
    body: () => void,
  ): void {
    const { f, counter, source, target } = this;
    const bytes = operand.slots === 1 ? 4 : 2;
    const places = firstAcross.map((added, bit) => bytes * (added + across * (firstOther[bit] ?? 0)));
    repeat(f, counter, registers, () => {
      f.get(counter).i32(7).op('i32Shl').get(words).op('i32Add').i32(begin).op('i32Add').set(source);
      pushIndex(f, counter, places);
      f.get(SCRATCH).op('i32Add').set(target);
      body();
    });
  }

  readAccumulators(): void {
    const { f, plan, rooms, source, target, lines, spare } = this;
    const { c } = plan;
    this.eachSum(c, this.offsets.c, WORDS, () => {
      const count = c.operand.slots === 1 ? 4 : 8;
      for (let first = 0; first < 8; first += count) {
        const rows = lines.slice(0, count);
        rows.forEach((line, at) => {
          f.get(source)
            .simdMemory('v128Load', 16 * (first + at))
            .set(line);
        });
        transpose(f, count === 4 ? 32 : 16, rows, spare.slice(0, count)).forEach((column, at) => {
          // A lane's neighbours are in two registers, or in one.
          const to = count === 4 ? 8 * at * c.across + 4 * first : 2 * at * c.across;
          f.get(target).get(column);
          f.simdMemory('v128Store', rooms.c + to);
        });
      }
    });
  }

  /** Places along k of each block's products: of a sparse form those of the chunks that its elements are of. */
  private blocks(): readonly (readonly number[])[] {
    const { form, model } = this;
    const { blocks } = fusedContext(model, form.a.columns, form.c.type, form.d.type);
    if (form.sparse === undefined) return blocks.map((block) => Array.from(block));
    const { width, kept } = chunkOf(form);
    return blocks.map((block) =>
      [...new Set(Array.from(block, (at) => Math.floor(at / kept)))].flatMap((chunk) =>
        Array.from({ length: width }, (_, at) => chunk * width + at),
      ),
    );
  }

  sum(): void {
    const { f, form, plan, rooms, counter } = this;
    const { k } = form.shape;
    const { wide, single } = plan;
    const [values, exponents, others, otherExponents, c, d] = [
      f.local('i32'),
      f.local('i32'),
      f.local('i32'),
      f.local('i32'),
      f.local('i32'),
      f.local('i32'),
    ];
    const group = f.local('i32');
    repeat(f, group, wide.across / 16, () => {
      f.get(group)
        .i32(k * 64)
        .op('i32Mul')
        .get(SCRATCH)
        .op('i32Add')
        .set(values);
      f.get(group)
        .i32(k * 16)
        .op('i32Mul')
        .get(SCRATCH)
        .op('i32Add')
        .set(exponents);
      const sizes = [
        [c, form.c.type === 'f16' ? 2 : 4],
        [d, form.d.type === 'f16' ? 2 : 4],
      ] as const;
      for (const [pointer, size] of sizes)
        f.get(group)
          .i32(16 * size)
          .op('i32Mul')
          .get(SCRATCH)
          .op('i32Add')
          .set(pointer);
      f.get(SCRATCH).set(others);
      f.get(SCRATCH).set(otherExponents);
      const fusedLine = new FusedLine(
        f,
        { values, exponents, others, otherExponents, c, d },
        rooms,
        this.isRelaxed,
        this.flagged,
        this.rounder,
      );
      repeat(f, counter, single.across, () => {
        fusedLine.line(form, this.model, this.blocks());
        for (const [pointer, step] of [
          [others, 4 * k],
          [otherExponents, k],
          ...sizes.map(([pointer, size]) => [pointer, size * wide.across] as const),
        ] as const)
          f.get(pointer).i32(step).op('i32Add').set(pointer);
      });
    });
  }

  writeResults(): void {
    const { f, plan, rooms, source, target, lines, spare } = this;
    const { d } = plan;
    this.eachSum(d, 0, RESULT, () => {
      const count = d.operand.slots === 1 ? 4 : 8;
      for (let first = 0; first < 8; first += count) {
        const rows = lines.slice(0, count);
        rows.forEach((line, at) => {
          const from = count === 4 ? 8 * at * d.across + 4 * first : 2 * at * d.across;
          f.get(target)
            .simdMemory('v128Load', rooms.d + from)
            .set(line);
        });
        transpose(f, count === 4 ? 32 : 16, rows, spare.slice(0, count)).forEach((column, at) => {
          f.get(source).get(column);
          f.simdMemory('v128Store', 16 * (first + at));
        });
      }
    });
  }
}
