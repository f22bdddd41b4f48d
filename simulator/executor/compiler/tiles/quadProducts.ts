import { FunctionBuilder } from '../../../wasm/index.js';
import type { Operand, ScalarModel, TileForm } from '../../../tensor/index.js';
import { RESULT, SCRATCH, wordOffsets, WORDS } from './elements.js';
import { repeat } from './linearIndex.js';
import { interleave, vectorLocals } from './shuffles.js';
import { splat32 } from './factorVectors.js';
import { HalfRounder, halvesToFloats, pushHalfBits, pushSingleBits } from './sumVectors.js';

/** Lines of 8 f32: of A and B by place along k, of C by column. */
const lineBytes = 32;
const depth = 4;
const rooms = { a: 0, b: depth * lineBytes, c: 2 * depth * lineBytes } as const;

/** One of a warp's four products at a time. */
export const quadScratch = rooms.c + 8 * lineBytes;

/** Lanes of a quad pair: four, and the four 16 further on, which hold rows (or columns) 4 to 7. */
const halves = [0, 1] as const;
const laneBytes = 64;

/**
 * `m8n8k4` of f16, which are multiply-adds of f32: a product of two halves is exact in f32, so that it and an addition are one. Of four
 * lanes at a time a register is a vector.
 */
export function quadProducts(form: TileForm, model: ScalarModel): FunctionBuilder {
  const f = new FunctionBuilder(['i32', 'i32', 'i32'], []);
  const emitter = new QuadEmitter(f, form, model);
  const quad = f.local('i32');
  repeat(f, quad, form.d.batches, () => {
    emitter.begin(quad);
    emitter.readFactor(form.a, wordOffsets(form).a, rooms.a);
    emitter.readFactor(form.b, wordOffsets(form).b, rooms.b);
    if (form.c.type === 'f16') emitter.readAccumulators();
    emitter.writeSums();
  });
  return f;
}

class QuadEmitter {
  private readonly words: number;
  private readonly result: number;
  private readonly value: number;
  private readonly spare: readonly number[];
  private readonly sum: number;
  private readonly total: number;
  private readonly rounder: HalfRounder;

  constructor(
    private readonly f: FunctionBuilder,
    private readonly form: TileForm,
    private readonly model: ScalarModel,
  ) {
    [this.words, this.result] = [f.local('i32'), f.local('i32')];
    [this.value = 0, this.sum = 0, this.total = 0] = vectorLocals(f, 3);
    this.spare = vectorLocals(f, 2);
    this.rounder = new HalfRounder(f);
  }

  begin(quad: number): void {
    const { f } = this;
    for (const [from, to] of [
      [WORDS, this.words],
      [RESULT, this.result],
    ] as const)
      f.get(quad).i32(4).op('i32Shl').get(from).op('i32Add').set(to);
  }

  /** Leaves in `value` one half of each of a register's words of four lanes, as f32. */
  private readHalves(offset: number, register: number, half: number, slot: number): void {
    const { f, words, value } = this;
    f.get(words).simdMemory('v128Load', offset + register * 128 + half * laneBytes);
    if (slot === 1) f.i32(16).simd('i32x4ShrU');
    else splat32(f, 0xffff).simd('v128And');
    f.set(value);
    halvesToFloats(f, value, this.spare);
  }

  /** Leaves a factor's lines, by place along k. */
  readFactor(operand: Operand, offset: number, room: number): void {
    const { f, value } = this;
    // Of two neighbours in a word, rows or columns differ where four lanes are four places along k.
    const isAcross = placeOf(operand, 0, 1) !== placeOf(operand, 0, 0);
    for (const half of halves) {
      for (const [register, slot] of [
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1],
      ] as const) {
        this.readHalves(offset, register, half, slot);
        const at = 2 * register + slot;
        if (!isAcross) {
          f.get(SCRATCH)
            .get(value)
            .simdMemory('v128Store', room + at * lineBytes + 16 * half);
          continue;
        }
        for (let lane = 0; lane < 4; lane++)
          f.get(SCRATCH)
            .get(value)
            .simdMemoryLane('v128Store32Lane', room + lane * lineBytes + 16 * half + 4 * at, lane);
      }
    }
  }

  /** Leaves accumulators of f16 by column. */
  readAccumulators(): void {
    const { f, value, form } = this;
    for (const half of halves) {
      for (let column = 0; column < 8; column++) {
        this.readHalves(wordOffsets(form).c, column >> 1, half, column & 1);
        f.get(SCRATCH)
          .get(value)
          .simdMemory('v128Store', rooms.c + column * lineBytes + 16 * half);
      }
    }
  }

  writeSums(): void {
    const { f, form, result, words, total, value, sum, rounder } = this;
    const offset = wordOffsets(form).c;
    for (const half of halves) {
      for (let register = 0; register < (form.d.type === 'f16' ? 4 : 8); register++) {
        if (form.d.type === 'f16') {
          for (const slot of [0, 1]) {
            const column = 2 * register + slot;
            f.get(SCRATCH)
              .simdMemory('v128Load', rooms.c + column * lineBytes + 16 * half)
              .set(total);
            this.addProducts(
              (place) => f.get(SCRATCH).simdMemory('v128Load', rooms.a + place * lineBytes + 16 * half),
              (place) =>
                f.get(SCRATCH).simdMemory('v128Load32Splat', rooms.b + place * lineBytes + 4 * column),
            );
            rounder.round(total);
            pushHalfBits(f, total, this.spare);
            if (slot === 0) f.set(value);
          }
          f.i32(16).simd('i32x4Shl').get(value).simd('v128Or').set(sum);
        } else {
          // Four lanes have two rows of column y, and the same of column y + 2.
          const row = 4 * half + (register & 2);
          const column = (register & 4) + (register & 1);
          if (form.c.type === 'f16') {
            for (const which of [0, 2])
              f.get(SCRATCH).simdMemory('v128Load64Zero', rooms.c + (column + which) * lineBytes + 4 * row);
            interleave(f, 64, 'low');
          } else f.get(words).simdMemory('v128Load', offset + register * 128 + half * laneBytes);
          f.set(total);
          this.addProducts(
            (place) => f.get(SCRATCH).simdMemory('v128Load64Splat', rooms.a + place * lineBytes + 4 * row),
            (place) => {
              f.get(SCRATCH)
                .simdMemory('v128Load', rooms.b + place * lineBytes + 4 * (register & 4))
                .tee(value);
              const [first, second] = [register & 1, 2 + (register & 1)];
              f.get(value).shuffleWords(first, first, second, second);
            },
          );
          pushSingleBits(f, total);
          f.set(sum);
        }
        f.get(result)
          .get(sum)
          .simdMemory('v128Store', register * 128 + half * laneBytes);
      }
    }
  }

  /** Adds all products to `total`, a block after the other. */
  private addProducts(pushLeft: (place: number) => void, pushRight: (place: number) => void): void {
    const { f, model, total, sum } = this;
    for (let first = 0; first < depth; first += model.blockLength) {
      for (let place = first; place < first + model.blockLength; place++) {
        pushLeft(place);
        pushRight(place);
        f.simd('f32x4Mul');
        if (place > first) f.get(sum).simd('f32x4Add');
        else if (model.start === 'nought') splat32(f, 0).simd('f32x4Add');
        f.set(sum);
      }
      f.get(total).get(sum).simd('f32x4Add').set(total);
    }
  }
}

/** Row of an element of A, column of one of B. */
function placeOf({ map, slots, rows, columns }: Operand, unit: number, slot: number): number {
  const element = map[unit * slots + slot] ?? 0;
  return rows === 8 ? Math.floor(element / columns) % rows : element % columns;
}
