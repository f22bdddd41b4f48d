import { describe, expect, it } from 'vitest';
import { FunctionBuilder, ModuleBuilder, type SimdName } from './index.js';

const OUT = 256;

/** Runs a body that leaves one vector; @returns the memory behind it. */
function run(write: (f: FunctionBuilder) => void, words: readonly number[] = []): DataView {
  const builder = new ModuleBuilder(4);
  const f = new FunctionBuilder([], []);
  f.i32(OUT);
  write(f);
  f.simdMemory('v128Store', 0);
  builder.add(f, 'run');
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 4, shared: true });
  new Uint32Array(memory.buffer).set(words);
  const instance = new WebAssembly.Instance(new WebAssembly.Module(builder.finish()), { node: { memory } });
  (instance.exports['run'] as () => void)();
  return new DataView(memory.buffer, OUT);
}

function words(view: DataView): number[] {
  return [0, 4, 8, 12].map((at) => view.getInt32(at, true));
}

describe('vector code', () => {
  it('writes constants and words in order', () => {
    expect(words(run((f) => f.v128(1, -2, 0x80000000, 4)))).toEqual([1, -2, -0x80000000, 4]);
  });

  it('shuffles words of two vectors', () => {
    const result = run((f) => f.v128(10, 11, 12, 13).v128(20, 21, 22, 23).shuffleWords(3, 4, 0, 7));
    expect(words(result)).toEqual([13, 20, 10, 23]);
    expect(() => new FunctionBuilder([], []).shuffle([0])).toThrow(RangeError);
  });

  it('loads whole vectors, splats and single lanes', () => {
    const memory = [5, 6, 7, 8];
    expect(words(run((f) => f.i32(0).simdMemory('v128Load', 0), memory))).toEqual([5, 6, 7, 8]);
    expect(words(run((f) => f.i32(4).simdMemory('v128Load32Splat', 4), memory))).toEqual([7, 7, 7, 7]);
    expect(words(run((f) => f.i32(0).simdMemory('v128Load64Splat', 8), memory))).toEqual([7, 8, 7, 8]);
    expect(words(run((f) => f.i32(0).simdMemory('v128Load32Zero', 4), memory))).toEqual([6, 0, 0, 0]);
    const one = run((f) => f.i32(0).v128(1, 2, 3, 4).simdMemoryLane('v128Load32Lane', 8, 1), memory);
    expect(words(one)).toEqual([1, 7, 3, 4]);
  });

  it('stores single lanes', () => {
    const view = run((f) => {
      f.i32(OUT).v128(1, 2, 3, 4).simdMemoryLane('v128Store64Lane', 32, 1);
      f.v128(0, 0, 0, 0);
    });
    expect([view.getInt32(32, true), view.getInt32(36, true)]).toEqual([3, 4]);
  });

  it('extracts and replaces lanes', () => {
    const result = run((f) => {
      const held = f.local('v128');
      f.v128(1, 2, 3, 4).set(held).get(held).get(held).simdLane('i32x4ExtractLane', 3);
      f.simdLane('i32x4ReplaceLane', 0);
    });
    expect(words(result)).toEqual([4, 2, 3, 4]);
  });

  const binary: readonly [SimdName, (a: number, b: number) => number][] = [
    ['i32x4Add', (a, b) => (a + b) | 0],
    ['i32x4Sub', (a, b) => (a - b) | 0],
    ['i32x4Mul', Math.imul],
    ['i32x4MinS', Math.min],
    ['i32x4MaxU', (a, b) => Math.max(a >>> 0, b >>> 0) | 0],
    ['i32x4LtS', (a, b) => (a < b ? -1 : 0)],
    ['i32x4GeU', (a, b) => (a >>> 0 >= b >>> 0 ? -1 : 0)],
    ['v128AndNot', (a, b) => a & ~b],
    ['v128Xor', (a, b) => a ^ b],
  ];
  it.each(binary)('%s', (name, apply) => {
    const [a, b] = [
      [1, -7, 0x7fffffff, -0x80000000],
      [3, 5, 1, -0x80000000],
    ] as const;
    const result = run((f) =>
      f
        .v128(...a)
        .v128(...b)
        .simd(name),
    );
    expect(words(result)).toEqual(a.map((each, index) => apply(each, b[index] ?? 0)));
  });

  it('widens products and doubles', () => {
    const product = run((f) => f.v128(0, 0, -1, 5).v128(0, 0, 3, -5).simd('i64x2ExtmulHighI32x4S'));
    expect([product.getBigInt64(0, true), product.getBigInt64(8, true)]).toEqual([-3n, -25n]);
    const doubles = run((f) => f.f32(1.5).simd('f32x4Splat').simd('f64x2PromoteLowF32x4'));
    expect([doubles.getFloat64(0, true), doubles.getFloat64(8, true)]).toEqual([1.5, 1.5]);
  });
});
