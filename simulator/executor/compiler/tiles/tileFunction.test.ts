import { describe, expect, it } from 'vitest';
import { productForm, type TileForm } from '../../../tensor/index.js';
import { FunctionBuilder, ModuleBuilder } from '../../../wasm/index.js';
import { fusedMultiplyAdd64 } from '../../arithmetic/index.js';
import { Library } from '../library/index.js';
import { exactMultiplyAdd } from './exactMultiplyAdd.js';
import { tileFunction } from './index.js';
import { linearIndex, pushIndex } from './linearIndex.js';

function formOf(name: string): TileForm {
  const form = productForm(name);
  if (form === undefined) throw new Error(`no form ${name}`);
  return form;
}

function compiled<T>(add: (module: ModuleBuilder) => void): T {
  const module = new ModuleBuilder(1);
  add(module);
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  return new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { node: { memory } }).exports as T;
}

describe('tileFunction', () => {
  it('adds a form and what it calls once, and what other forms share once', () => {
    const library = new Library(new ModuleBuilder(1), true);
    const half = formOf('mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32');
    const first = tileFunction(half).index(library);
    expect(tileFunction(half).index(library)).toBe(first);
    const down = tileFunction(formOf('mma.sync.aligned.m8n8k4.row.col.rm.f64.f64.f64.f64')).index(library);
    const larger = tileFunction(formOf('mma.sync.aligned.m16n8k4.row.col.rm.f64.f64.f64.f64')).index(library);
    // The second chain rounds by the first one's multiply-add.
    expect(larger).toBe(down + 1);
  });

  it('says how much scratch it needs, of every shape', () => {
    for (const [name, most] of [
      ['mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32', 8192],
      ['mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32 0', 20_480],
      ['mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc', 0],
    ] as const)
      expect(tileFunction(formOf(name)).scratchBytes).toBeLessThanOrEqual(most);
  });
});

describe('linearIndex', () => {
  it('finds what bits add, and computes it', () => {
    const values = Array.from(
      { length: 32 },
      (_, at) => (at & 3) * 2 + ((at >> 2) & 1) * 100 + (at >> 3) * 8,
    );
    const bits = linearIndex(values);
    expect(bits).toEqual([2, 4, 100, 8, 16]);
    const { f } = compiled<{ f: (index: number) => number }>((module) => {
      const builder = new FunctionBuilder(['i32'], ['i32']);
      pushIndex(builder, 0, bits);
      module.add(builder, 'f');
    });
    expect(values.map((_, at) => f(at))).toEqual(values);
  });

  it('refuses what is no sum of bits', () => {
    expect(() => linearIndex([0, 1, 2, 4])).toThrow(RangeError);
    expect(() => linearIndex([1, 2])).toThrow(RangeError);
  });
});

const doubles = new Float64Array(1);
const words = new BigInt64Array(doubles.buffer);

function bitsOf(value: number): bigint {
  doubles[0] = value;
  return words[0] ?? 0n;
}

function valueOf(bits: bigint): number {
  words[0] = bits;
  return doubles[0] ?? 0;
}

describe('exactMultiplyAdd', () => {
  const operands = [
    0,
    -0,
    1,
    -1,
    1 + 2 ** -52,
    1 - 2 ** -53,
    3,
    2 ** 27 + 1,
    2 ** -1074,
    -(2 ** -1074),
    2 ** -1022,
    2 ** -1022 - 2 ** -1074,
    2 ** -537,
    2 ** 511,
    2 ** 1023,
    Number.MAX_VALUE,
    -Number.MAX_VALUE,
    Infinity,
  ];
  const roundings = ['rn', 'rz', 'rm', 'rp'] as const;
  const functions = compiled<Record<string, (a: bigint, b: bigint, c: bigint) => bigint>>((module) => {
    for (const rounding of roundings) module.add(exactMultiplyAdd(rounding), rounding);
  });
  const ask = (rounding: string, a: number, b: number, c: number): number =>
    valueOf(functions[rounding]?.(bitsOf(a), bitsOf(b), bitsOf(c)) ?? 0n);

  it('rounds to nearest as the definition does, and in other ways to one side of it', () => {
    for (const a of operands) {
      for (const b of operands) {
        for (const c of operands) {
          const nearest = fusedMultiplyAdd64(a, b, c);
          expect([a, b, c, ask('rn', a, b, c)]).toEqual([a, b, c, nearest]);
          const [zero, down, up] = ['rz', 'rm', 'rp'].map((rounding) => ask(rounding, a, b, c));
          if (Number.isNaN(nearest)) {
            expect([zero, down, up]).toEqual([NaN, NaN, NaN]);
            continue;
          }
          expect(down).toBeLessThanOrEqual(up ?? NaN);
          expect([down, up]).toContain(nearest);
          expect([down, up]).toContain(zero);
          expect(Math.abs(zero ?? NaN)).toBe(Math.min(Math.abs(down ?? NaN), Math.abs(up ?? NaN)));
        }
      }
    }
  });

  it('knows what lies below the last place', () => {
    expect(ask('rm', 1, 1, -(2 ** -1074))).toBe(1 - 2 ** -53);
    expect(ask('rp', 1, 1, 2 ** -1074)).toBe(1 + 2 ** -52);
    expect(ask('rz', -1, 1, 2 ** -1074)).toBe(-(1 - 2 ** -53));
    expect(ask('rn', 1, 1, -(2 ** -1074))).toBe(1);
    expect(ask('rp', 2 ** -1074, 2 ** -1074, 0)).toBe(2 ** -1074);
    expect(ask('rm', Number.MAX_VALUE, 2, 0)).toBe(Number.MAX_VALUE);
    expect(ask('rm', 1, 1, -1)).toBe(-0);
  });
});
