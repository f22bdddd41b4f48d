import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LaunchSpecError, checkLaunchSpec, runLaunchSpec } from './index.js';
import { mixu } from './generators.js';
import { smallFloatBits, smallFloatValue } from './smallFloats.js';

const FIXTURES = resolve(import.meta.dirname, 'fixtures');

const base = {
  ptx: 'parameters.ptx',
  device: 'h200',
  grid: [1, 1, 1],
  block: [8, 1, 1],
};
const out = { buffer: { type: 'f32', count: 8, out: true } };
const layer = {
  struct: {
    fields: [
      { f32: 0.5 },
      { f64: -1.25 },
      { buffer: { name: 'weights', type: 'f32', count: 8, values: [1, 2, 3, 4, 5, 6, 7, 8] } },
      { array: { type: 'i16', count: 3, values: [-7, 10, 300] } },
      { i32: 6 },
    ],
  },
};

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-parameters-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function run(spec: object): ReturnType<typeof runLaunchSpec> {
  return runLaunchSpec({ ...base, ...spec }, FIXTURES, { dumpDirectory: folder });
}

function floats(file: string): number[] {
  const { buffer, byteOffset, byteLength } = readFileSync(join(folder, file));
  return [...new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength))];
}

function complaint(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    if (error instanceof LaunchSpecError) return `${error.code} ${error.message}`;
    throw error;
  }
  return '';
}

describe('structures by value', () => {
  const bias = [-7, 10, 300];
  const expected = [1, 2, 3, 4, 5, 6].map((weight, index) => weight * 0.5 - 1.25 + bias[index % 3]);

  it('lays fields out as C does', () => {
    run({ kernel: 'structures', args: [layer, out] });
    expect(floats('arg1.bin')).toEqual([...expected, 0, 0]);
  });

  it('takes places and sizes as given', () => {
    const [scale, shift, weights, bias3, count] = layer.struct.fields;
    const struct = {
      bytes: 40,
      fields: [
        { offset: 32, ...count },
        { offset: 24, ...bias3 },
        { offset: 16, ...weights },
        { offset: 8, ...shift },
        { offset: 0, ...scale },
      ],
    };
    run({ kernel: 'structures', args: [{ struct }, out] });
    expect(floats('arg1.bin')).toEqual([...expected, 0, 0]);
  });

  it('nests', () => {
    const [scale, shift, weights, bias3, count] = layer.struct.fields;
    const struct = {
      fields: [
        { struct: { fields: [scale, shift] } },
        weights,
        { struct: { fields: [bias3] } },
        { offset: 32, ...count },
      ],
    };
    run({ kernel: 'structures', args: [{ struct }, out] });
    expect(floats('arg1.bin')).toEqual([...expected, 0, 0]);
  });

  it.each([
    [
      { struct: { fields: [{ f32: 1 }] } },
      /^invalidSpec args\[0\]: struct has 4 bytes, but parameter 0 of 'structures' has 40/,
    ],
    [
      { struct: { bytes: 40, fields: [{ f64: 1 }, { offset: 4, f32: 2 }] } },
      /args\[0\]\.struct\.fields\[1\]: bytes \[4, 8\) overlap args\[0\]\.struct\.fields\[0\] at \[0, 8\)/,
    ],
    [
      { struct: { bytes: 40, fields: [{ offset: 36, f64: 1 }] } },
      /args\[0\]\.struct\.bytes: 40, but its fields end at 44/,
    ],
    [
      { struct: { fields: [{ i32: 1, f32: 2 }] } },
      /args\[0\]\.struct\.fields\[0\]: expected one of f32, .*array, and no other field/,
    ],
    [{ struct: { fields: [{ offset: -1, i32: 1 }] } }, /args\[0\]\.struct\.fields\[0\]\.offset: /],
    [
      { struct: { fields: [{ i16: 40000 }] } },
      /args\[0\]\.struct\.fields\[0\]\.i16: expected a whole number from -32768/,
    ],
    [
      { struct: { fields: [{ array: { type: 'i8', count: 2, values: [1] } }] } },
      /fields\[0\]\.array\.values: holds 1 values, but count is 2/,
    ],
    [
      { struct: { fields: [{ array: { type: 'i8', count: 2, out: true } }] } },
      /fields\[0\]\.array\.out: a structure is passed by value/,
    ],
    [
      { struct: { fields: [{ buffer: { type: 'i8', count: 2, out: true } }] } },
      /fields\[0\]\.buffer\.name: is missing; a reported buffer/,
    ],
    [{ struct: { fields: [] } }, /args\[0\]\.struct\.fields: /],
    [
      { array: { type: 'i8', count: 40 } },
      /args\[0\]: expected one of f32, .*struct, tensorMap, and no other field/,
    ],
  ])('refuses %j', (argument, message) => {
    expect(complaint(() => run({ kernel: 'structures', args: [argument, out] }))).toMatch(message);
  });

  it('refuses a name that is taken', () => {
    const named = { buffer: { name: 'weights', type: 'f32', count: 8 } };
    expect(complaint(() => run({ kernel: 'structures', args: [layer, named] }))).toMatch(
      /args\[1\]\.buffer\.name: 'weights' is the name of args\[0\]\.struct\.fields\[2\]\.buffer already/,
    );
  });
});

describe('module variables', () => {
  const symbols = {
    coefficients: { array: { type: 'f32', count: 4, values: [10, 20, 30, 40] } },
    table: { pointer: { of: 'numbers', offsetBytes: 4 } },
    counter: { array: { type: 'i32', count: 1, values: [41], out: true } },
  };
  const numbers = { name: 'numbers', type: 'f32', count: 9, values: [-1, 1, 2, 3, 4, 5, 6, 7, 8] };
  const withTable = {
    ...symbols,
    table: { buffer: { ...numbers, count: 8, values: numbers.values.slice(1) } },
  };

  it('are set before the launch and reported after it', () => {
    const { buffers } = run({ kernel: 'variables', args: [out], symbols: withTable });
    expect(floats('arg0.bin')).toEqual([11, 22, 33, 44, 15, 26, 37, 48]);
    expect(buffers.map(({ arg, name, sum }) => [arg, name, sum])).toEqual([
      [0, undefined, 236],
      [undefined, 'counter', 42],
    ]);
    expect(readFileSync(join(folder, 'counter.bin')).readInt32LE(0)).toBe(42);
  });

  it('may point into buffers and to each other', () => {
    const pointed = { ...symbols, table: { pointer: { symbol: 'coefficients', offsetBytes: 0 } } };
    run({ kernel: 'variables', block: [4, 1, 1], args: [out], symbols: pointed });
    expect(floats('arg0.bin').slice(0, 4)).toEqual([20, 40, 60, 80]);
  });

  it.each([
    [
      { ...symbols, nothing: { i32: 1 } },
      /symbols\.nothing: the module has no variable 'nothing' in \.global or \.const; there are: coefficients, table, counter/,
    ],
    [
      { ...withTable, counter: { i64: 1 } },
      /symbols\.counter: 8 bytes given, but the variable has 4; give exactly that/,
    ],
    [symbols, /symbols\.table\.pointer\.of: no buffer has the name 'numbers'; there are: none/],
    [{ table: { pointer: { of: 7 } } }, /symbols\.table\.pointer\.of: argument 7 is no buffer/],
    [
      { table: { pointer: { symbol: 'tables' } } },
      /symbols\.table\.pointer\.symbol: the module has no variable 'tables'/,
    ],
    [{ table: { pointer: {} } }, /symbols\.table\.pointer\.of: is missing/],
    [
      { table: { pointer: { of: 0, symbol: 'counter' } } },
      /symbols\.table\.pointer\.of: give only one of of and symbol/,
    ],
  ])('refuses %j', (given, message) => {
    expect(complaint(() => run({ kernel: 'variables', args: [out], symbols: given }))).toMatch(message);
  });
});

describe('types of 8 and 16 bits', () => {
  it('pass as arguments and in buffers', () => {
    const a = [0.5, -2, 3.140625, 65504, 6e-8, 0, 1.5, 2.5];
    const b = [1, -0.5, 3, 0, 0, 1e10, -1, 0.25];
    const { buffers } = run({
      kernel: 'halves',
      args: [
        { buffer: { type: 'f16', count: 8, values: a } },
        { buffer: { type: 'bf16', count: 8, values: b } },
        { f16: 2 },
        { i8: -3 },
        out,
        { buffer: { type: 'f16', count: 8, out: true } },
      ],
    });
    const half = (value: number): number => smallFloatValue('f16', smallFloatBits('f16', value));
    const brain = (value: number): number => smallFloatValue('bf16', smallFloatBits('bf16', value));
    const expected = a.map((value, index) => Math.fround(Math.fround(half(value) * 2 + brain(b[index])) - 3));
    expect(floats('arg4.bin')).toEqual(expected);
    expect(buffers[1].samples['0']).toBe(0.25);
    // As few digits as read back equal.
    expect(buffers[1].samples['2']).toBe(9.87);
    expect(half(9.87)).toBe(half(3.140625 ** 2));
    expect(buffers[1].samples['4']).toBe(0);
  });

  it('hold what rounds to the nearest, ties to even', () => {
    for (const [type, value, bits] of [
      ['f16', 1, 0x3c00],
      ['f16', -0, 0x8000],
      ['f16', 65504, 0x7bff],
      ['f16', 65520, 0x7c00],
      ['f16', 2 ** -24, 1],
      ['f16', 2 ** -25, 0],
      ['f16', 3 * 2 ** -25, 2],
      ['f16', 1 + 2 ** -11, 0x3c00],
      ['f16', 1 + 3 * 2 ** -11, 0x3c02],
      ['f16', 2047.5, 0x6800],
      ['bf16', 1, 0x3f80],
      ['bf16', 1 + 2 ** -8, 0x3f80],
      ['bf16', 3.3895313892515355e38, 0x7f7f],
      ['bf16', 2 ** -133, 1],
    ] as const)
      expect(smallFloatBits(type, value), `${type} ${value}`).toBe(bits);
    for (let bits = 0; bits < 0x10000; bits += 7) {
      for (const type of ['f16', 'bf16'] as const) {
        const value = smallFloatValue(type, bits);
        if (!Number.isNaN(value)) expect(smallFloatBits(type, value), `${type} ${bits}`).toBe(bits);
      }
    }
  });

  it.each([
    [{ f16: 70000 }, /args\[2\]\.f16: 70000 is beyond the largest f16, 65504/],
    [{ bf16: 1 }, undefined],
    [{ f32: 1 }, /args\[2\]: f32 has 4 bytes, but parameter 2 of 'halves' has 2/],
  ])('take %j or say why not', (factor, message) => {
    const buffer = { buffer: { type: 'f16', count: 8 } };
    const attempt = (): unknown =>
      run({ kernel: 'halves', args: [buffer, buffer, factor, { i8: 0 }, out, buffer] });
    if (message === undefined) expect(attempt).not.toThrow();
    else expect(complaint(attempt)).toMatch(message);
  });
});

describe('cooperative launches', () => {
  const cells = {
    buffer: { type: 'i32', count: 1280, out: true, generate: { rule: 'mix.mod', seed: 3, mod: 10 } },
  };
  const spec = { kernel: 'meeting', grid: [20, 1, 1], block: [64, 1, 1], args: [cells, { i32: 4 }] };

  it('let blocks wait for one another', () => {
    run({ ...spec, cooperative: true });
    let expected = Array.from({ length: 1280 }, (_, index) => mixu(index, 3) % 10);
    for (let round = 0; round < 4; round++)
      expected = expected.map((value, index) => value + expected[(index + 1279) % 1280]);
    const bytes = readFileSync(join(folder, 'arg0.bin'));
    expect(Array.from({ length: 1280 }, (_, index) => bytes.readInt32LE(4 * index))).toEqual(expected);
  });

  it('are refused where the device cannot hold all blocks at once', () => {
    expect(complaint(() => run({ ...spec, grid: [5000, 1, 1], cooperative: true }))).toMatch(
      /^refused grid: 5000 blocks; a cooperative launch must be on the device all at once, which holds 4224 such blocks \(32 on each of 132 SMs, bound by \w+\)/,
    );
  });

  it('say what they are in the spec', () => {
    const full = { ...base, ...spec, cooperative: true };
    expect(checkLaunchSpec(full).cooperative).toBe(true);
    expect(complaint(() => checkLaunchSpec({ ...full, cooperative: 1 }))).toMatch(
      /^invalidSpec cooperative: /,
    );
  });
});
