import { FunctionBuilder, type SimdName } from '../../../wasm/index.js';
import { elementBits, type ElementType, type TileForm } from '../../../tensor/index.js';
import { pushIndex, repeat } from './linearIndex.js';
import { RESULT, SCRATCH, wordOffsets, WORDS } from './elements.js';
import { vectorPlan, type FactorBlocks, type VectorPlan } from './fragments.js';
import { interleave, vectorLocals } from './shuffles.js';
import { SparseLines } from './sparseLines.js';

/** Vectors of a line that stay in locals while it meets others. */
const mostHeld = 8;

export function integerVectorsScratch(form: TileForm): number {
  if (form.a.type === 'b1') return 0;
  const { wide, single } = vectorPlan(form);
  return 2 * form.shape.k * (wide.across + single.across);
}

/**
 * A product of integers, line against line: elements are made i16, and products of neighbours along k added in i32. Bits are joined and
 * counted as they lie.
 */
export function integerVectors(form: TileForm): FunctionBuilder {
  const f = new FunctionBuilder(['i32', 'i32', 'i32'], []);
  const emitter = new IntegerEmitter(f, form, vectorPlan(form));
  if (form.a.type !== 'b1') emitter.readFactors();
  emitter.sum();
  return f;
}

class IntegerEmitter {
  private readonly counter: number;
  private readonly line: number;
  private readonly offsets: ReturnType<typeof wordOffsets>;
  /** Bytes of a line in the scratch. */
  private readonly stride: number;

  constructor(
    private readonly f: FunctionBuilder,
    private readonly form: TileForm,
    private readonly plan: VectorPlan,
  ) {
    this.counter = f.local('i32');
    this.line = f.local('i32');
    this.offsets = wordOffsets(form);
    this.stride = 2 * form.shape.k;
  }

  private offsetOf({ operand }: FactorBlocks): number {
    return operand === this.form.a ? this.offsets.a : this.offsets.b;
  }

  /** Where lines of a factor begin in the scratch. */
  private roomOf(factor: FactorBlocks): number {
    return factor === this.plan.wide ? 0 : this.stride * this.plan.wide.across;
  }

  readFactors(): void {
    this.readFactor(this.plan.wide);
    this.readFactor(this.plan.single);
  }

  private readFactor(factor: FactorBlocks): void {
    const { f, form, line, stride } = this;
    const { operand, across, along, length, register } = factor;
    const [source, target] = [f.local('i32'), f.local('i32')];
    const [bytes = 0] = vectorLocals(f, 1);
    const sparse = operand === form.a && form.sparse !== undefined ? new SparseLines(f, form) : undefined;
    for (let block = 0; block < across / 8; block++) {
      repeat(f, line, 8, () => {
        f.get(line).i32(4).op('i32Shl').get(WORDS).op('i32Add').set(source);
        f.get(line).i32(stride).op('i32Mul').get(SCRATCH).op('i32Add').set(target);
        let to = this.roomOf(factor) + block * 8 * stride;
        for (let step = 0; step < along / length; step++) {
          f.get(source).simdMemory('v128Load', this.offsetOf(factor) + register(block, step) * 128);
          f.set(bytes);
          if (sparse === undefined) to = this.storeWidened(operand.type, [() => f.get(bytes)], target, to);
          else {
            sparse.load(bytes, source, this.offsets.metadata + sparse.offset(block, step, factor));
            for (const part of [0, 1]) to = this.storeWidened(operand.type, sparse.parts(part), target, to);
          }
        }
      });
    }
  }

  /** Stores the sum of vectors of bytes as i16, at `offset` from a local's address; answers where it ended. */
  private storeWidened(
    type: ElementType,
    parts: readonly (() => void)[],
    target: number,
    offset: number,
  ): number {
    const { f } = this;
    let to = offset;
    const sign = type === 's8' || type === 's4' ? 'S' : 'U';
    const nibbles: readonly (readonly (readonly [SimdName, number])[])[] =
      elementBits(type) === 8
        ? [[]]
        : [
            [
              ['i8x16Shl', 4],
              [`i8x16Shr${sign}`, 4],
            ],
            [[`i8x16Shr${sign}`, 4]],
          ];
    for (const shifts of nibbles) {
      for (const half of ['Low', 'High'] as const) {
        f.get(target);
        parts.forEach((push, index) => {
          push();
          for (const [name, by] of shifts) f.i32(by).simd(name);
          f.simd(`i16x8Extend${half}I8x16${sign}`);
          if (index > 0) f.simd('i16x8Add');
        });
        f.simdMemory('v128Store', to);
        to += 16;
      }
    }
    return to;
  }

  sum(): void {
    const { f, plan, form, counter, line, stride } = this;
    const { c, d } = plan;
    const [wideLine, others, words, result] = [
      f.local('i32'),
      f.local('i32'),
      f.local('i32'),
      f.local('i32'),
    ];
    const isBits = form.a.type === 'b1';
    const across = c.firstAcross.slice(1);
    const other = c.firstOther.slice(1);
    // Blocks of 8 lines by 8 others, a pair of registers each.
    const blockOf = (bits: readonly number[], step: (line: number) => number): readonly number[] =>
      bits.map((added) => step(added / 8) - step(0));
    const registerAt = (factor: FactorBlocks) => (at: number) => factor.register(at, 0) * 128;
    const steps = isBits
      ? { wide: blockOf(across, registerAt(plan.wide)), single: blockOf(other, registerAt(plan.single)) }
      : {
          wide: blockOf(across, (at) => at * 8 * stride),
          single: blockOf(other, (at) => at * 8 * stride),
        };
    const totals = vectorLocals(f, 8);
    const vectors = isBits ? form.shape.k / 128 : form.shape.k / 8;
    const held = vectorLocals(f, Math.min(vectors, mostHeld));
    const base = isBits ? WORDS : SCRATCH;
    const at = (factor: FactorBlocks, vector: number): number =>
      isBits ? this.offsetOf(factor) + factor.register(0, vector) * 128 : this.roomOf(factor) + 16 * vector;
    const lineBytes = isBits ? 16 : stride;
    repeat(f, counter, d.registers / 2, () => {
      pushIndex(f, counter, steps.wide);
      f.get(base).op('i32Add').set(wideLine);
      pushIndex(f, counter, steps.single);
      f.get(base).op('i32Add').set(others);
      f.get(counter).i32(8).op('i32Shl').get(WORDS).op('i32Add').set(words);
      f.get(counter).i32(8).op('i32Shl').get(RESULT).op('i32Add').set(result);
      repeat(f, line, 8, () => {
        held.forEach((vector, index) => {
          f.get(wideLine).simdMemory('v128Load', at(plan.wide, index)).set(vector);
        });
        totals.forEach((total, index) => {
          for (let vector = 0; vector < vectors; vector++) {
            const own = held[vector];
            if (own === undefined) f.get(wideLine).simdMemory('v128Load', at(plan.wide, vector));
            else f.get(own);
            f.get(others).simdMemory('v128Load', at(plan.single, vector) + index * lineBytes);
            if (isBits) f.simd(form.bitOperation === 'xor' ? 'v128Xor' : 'v128And').simd('i8x16Popcnt');
            else f.simd('i32x4DotI16x8S');
            if (vector > 0) f.simd(isBits ? 'i8x16Add' : 'i32x4Add');
          }
          if (isBits) f.simd('i16x8ExtaddPairwiseI8x16U').simd('i32x4ExtaddPairwiseI16x8U');
          f.set(total);
        });
        this.store(totals, words, result);
        for (const [pointer, step] of [
          [wideLine, lineBytes],
          [words, 16],
          [result, 16],
        ] as const)
          f.get(pointer).i32(step).op('i32Add').set(pointer);
      });
    });
  }

  /** Adds the accumulators to eight totals' sums: even ones lie in a register's line, odd ones in that of the next. */
  private store(totals: readonly number[], words: number, result: number): void {
    const { f, form, offsets } = this;
    for (const odd of [0, 1]) {
      const [a = 0, b = 0, c = 0, d = 0] = totals.filter((_, index) => index % 2 === odd);
      for (const [first, second] of [
        [a, b],
        [c, d],
      ] as const) {
        f.get(first).get(second);
        interleave(f, 32, 'low');
        f.get(first).get(second);
        interleave(f, 32, 'high');
        f.simd('i32x4Add').set(first);
      }
      f.get(a).get(c);
      interleave(f, 64, 'low');
      f.get(a).get(c);
      interleave(f, 64, 'high');
      f.simd('i32x4Add').set(b);
      f.get(words)
        .simdMemory('v128Load', offsets.c + 128 * odd)
        .set(c);
      f.get(result);
      f.get(b).get(c).simd('i32x4Add');
      if (form.satfinite) {
        // Where both have the sign that the sum has not, the end of that sign is the result.
        f.set(d);
        f.get(c)
          .i32(31)
          .simd('i32x4ShrS')
          .v128(0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff)
          .simd('v128Xor');
        f.get(d);
        f.get(b)
          .get(d)
          .simd('v128Xor')
          .get(c)
          .get(d)
          .simd('v128Xor')
          .simd('v128And')
          .i32(31)
          .simd('i32x4ShrS');
        f.simd('v128Bitselect');
      }
      f.simdMemory('v128Store', 128 * odd);
    }
  }
}
