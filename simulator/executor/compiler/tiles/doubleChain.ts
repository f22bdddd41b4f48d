import { FunctionBuilder } from '../../../wasm/index.js';
import type { TileForm } from '../../../tensor/index.js';
import type { Library } from '../library/index.js';
import { RESULT, SCRATCH, wordOffsets, WORDS } from './elements.js';
import { exactMultiplyAdd } from './exactMultiplyAdd.js';
import { vectorPlan } from './fragments.js';
import { linearIndex, pushIndex, repeat } from './linearIndex.js';
import { interleave, vectorLocals } from './shuffles.js';

/** Lines of 32 bytes are those of a register: 8 of them. */
const registerBytes = 256;

/** B by place along k: columns 0, 2, 4, 6, and then the odd ones, as a lane's two registers of C have them. */
export function doubleChainScratch(form: TileForm): number {
  return 8 * form.b.rows * form.b.columns;
}

/** A chain of multiply-adds of doubles, k ascending, rounded to nearest by vectors; where a NaN comes up by the function at `exact`. */
export function doubleChain(form: TileForm, exact: number): FunctionBuilder {
  const f = new FunctionBuilder(['i32', 'i32', 'i32'], []);
  const { wide, single } = vectorPlan(form);
  const { k } = form.shape;
  const offsets = wordOffsets(form);
  const [line, source, words, result] = [f.local('i32'), f.local('i32'), f.local('i32'), f.local('i32')];
  const sums = vectorLocals(f, 4);
  const [factor = 0, strange = 0, first = 0, second = 0] = vectorLocals(f, 4);
  for (let place = 0; place < k; place += 2) {
    for (let pair = 0; pair < 4; pair++) {
      // Columns 0 and 2, 4 and 6, 1 and 3, 5 and 7.
      const column = (pair >> 1) + 4 * (pair & 1);
      const at = offsets.b + single.register(0, place >> 2) * registerBytes + (place & 3) * 8;
      f.get(WORDS)
        .simdMemory('v128Load', at + column * 32)
        .set(first);
      f.get(WORDS)
        .simdMemory('v128Load', at + (column + 2) * 32)
        .set(second);
      for (const half of ['low', 'high'] as const) {
        f.get(SCRATCH).get(first).get(second);
        interleave(f, 64, half);
        f.simdMemory('v128Store', 64 * (place + (half === 'low' ? 0 : 1)) + 16 * pair);
      }
    }
  }
  for (let block = 0; block < wide.across / 8; block++) {
    f.get(WORDS).set(source);
    f.get(WORDS)
      .i32(offsets.c + 2 * block * registerBytes)
      .op('i32Add')
      .set(words);
    f.get(RESULT)
      .i32(2 * block * registerBytes)
      .op('i32Add')
      .set(result);
    const at = (pair: number): number => (pair >> 1) * registerBytes + 16 * (pair & 1);
    repeat(f, line, 8, () => {
      sums.forEach((sum, pair) => {
        f.get(words).simdMemory('v128Load', at(pair)).set(sum);
      });
      for (let place = 0; place < k; place++) {
        const from = offsets.a + wide.register(block, place >> 2) * registerBytes + (place & 3) * 8;
        f.get(source).simdMemory('v128Load64Splat', from).set(factor);
        sums.forEach((sum, pair) => {
          f.get(factor);
          f.get(SCRATCH).simdMemory('v128Load', 64 * place + 16 * pair);
          f.get(sum).simd('f64x2RelaxedMadd').set(sum);
        });
      }
      sums.forEach((sum, pair) => {
        f.get(sum).get(sum).simd('f64x2Ne').get(strange).simd('v128Or').set(strange);
        f.get(result).get(sum).simdMemory('v128Store', at(pair));
      });
      for (const pointer of [source, words, result]) f.get(pointer).i32(32).op('i32Add').set(pointer);
    });
  }
  f.get(strange).simd('v128AnyTrue').if();
  f.get(WORDS).get(RESULT).get(SCRATCH).call(exact).end();
  return f;
}

/** The same element by element, in any rounding. */
export function exactChain(form: TileForm, library: Library): FunctionBuilder {
  const f = new FunctionBuilder(['i32', 'i32', 'i32'], []);
  const rounding = form.rounding ?? 'rn';
  const multiplyAdd = library.once(`exact multiply-add ${rounding}`, () => exactMultiplyAdd(rounding));
  const offsets = wordOffsets(form);
  const { n, k } = form.shape;
  const [unit, left, right, place, sum] = [
    f.local('i32'),
    f.local('i32'),
    f.local('i32'),
    f.local('i32'),
    f.local('i64'),
  ];
  const elements = Array.from(form.d.map);
  const unitsOf = (map: Int32Array): number[] => {
    const units = new Array<number>(map.length);
    map.forEach((element, at) => (units[element] = at));
    return units;
  };
  const [unitsA, unitsB] = [unitsOf(form.a.map), unitsOf(form.b.map)];
  const steps = Array.from({ length: k }, (_, at) => at);
  const load = (from: number, offset: number, along: readonly number[]): void => {
    pushIndex(f, place, linearIndex(along));
    f.i32(3).op('i32Shl').get(from).op('i32Add').memory('i64Load', offset);
  };
  repeat(f, unit, form.d.units, () => {
    pushIndex(
      f,
      unit,
      linearIndex(elements.map((element) => 8 * (unitsA[Math.floor(element / n) * k] ?? 0))),
    );
    f.get(WORDS).op('i32Add').set(left);
    pushIndex(f, unit, linearIndex(elements.map((element) => 8 * (unitsB[element % n] ?? 0))));
    f.get(WORDS).op('i32Add').set(right);
    f.get(unit).i32(3).op('i32Shl').get(WORDS).op('i32Add').memory('i64Load', offsets.c).set(sum);
    repeat(f, place, k, () => {
      load(
        left,
        offsets.a,
        steps.map((at) => unitsA[at] ?? 0),
      );
      load(
        right,
        offsets.b,
        steps.map((at) => unitsB[at * n] ?? 0),
      );
      f.get(sum).call(multiplyAdd).set(sum);
    });
    f.get(unit).i32(3).op('i32Shl').get(RESULT).op('i32Add').get(sum).memory('i64Store', 0);
  });
  return f;
}
