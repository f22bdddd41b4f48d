import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  LaunchSpecError,
  checkLaunchSpec,
  runLaunchSpec,
  runLaunchSpecFile,
  sampleIndices,
} from './index.js';
import { mixf, mixu } from './generators.js';

const LAUNCHES = resolve(import.meta.dirname, '../gpu/reference/launches');

interface RawSpec {
  grid: number[];
  args: Record<string, unknown>[];
  [field: string]: unknown;
}

function rawSpec(name: string): RawSpec {
  return JSON.parse(readFileSync(join(LAUNCHES, `${name}.json`), 'utf8')) as RawSpec;
}

/** The card's were written with nine digits, ours with as few as read back equal. */
function singles(samples: Readonly<Record<string, unknown>> = {}): Record<string, number> {
  return Object.fromEntries(Object.entries(samples).map(([at, value]) => [at, Math.fround(Number(value))]));
}

describe('measured launches', () => {
  // Small ones of every kernel; the whole set is a bench.
  it.each([
    'saxpy__n-256-a-1-5',
    'vecadd__n-4096',
    'sgemm_naive__M-N-K-64',
    'sgemm_tiled__M-N-K-64',
    'dense_relu__batch-8-in-784-out-10',
    'transpose__rows-cols-256',
    'reduce_sum__n-8192',
    'forest_vote__batch-64-dim-784-trees-50-depth-10-classes-10',
  ])('%s gives the card’s output, and its duration within a half', (name) => {
    const result = runLaunchSpecFile(join(LAUNCHES, `${name}.json`));
    const { expect: expected } = checkLaunchSpec(rawSpec(name));
    expect(singles(result.buffers[0].samples)).toEqual(singles(expected?.samples));
    expect(result.durationUs / (expected?.durationUs ?? NaN)).toBeGreaterThan(0.5);
    expect(result.durationUs / (expected?.durationUs ?? NaN)).toBeLessThan(1.5);
  });

  it('repeats to the last bit', () => {
    const path = join(LAUNCHES, 'softmax_rows__rows-1-cols-1000.json');
    expect(runLaunchSpecFile(path)).toEqual(runLaunchSpecFile(path));
  });
});

describe('dumps and aliases', () => {
  const made: string[] = [];
  afterEach(() => made.splice(0).forEach((directory) => rmSync(directory, { recursive: true })));

  it('dumps buffers raw', () => {
    const directory = mkdtempSync(join(tmpdir(), 'launch-'));
    made.push(directory);
    const result = runLaunchSpec(rawSpec('saxpy__n-256-a-1-5'), LAUNCHES, { dumpDirectory: directory });
    const bytes = readFileSync(join(directory, 'arg3.bin'));
    expect(bytes.length).toBe(1024);
    expect(bytes.readFloatLE(51 * 4)).toBe(Math.fround(Number(result.buffers[0].samples['51'])));
  });

  it('refuses a place for dumps that is no folder, before it runs anything', () => {
    const directory = mkdtempSync(join(tmpdir(), 'launch-'));
    made.push(directory);
    const file = join(directory, 'file');
    writeFileSync(file, '');
    let asked = 0;
    const options = { dumpDirectory: file, stopwatch: () => asked++ };
    expect(() => runLaunchSpec(rawSpec('saxpy__n-256-a-1-5'), LAUNCHES, options)).toThrow(
      /dump directory: .*file is a file/,
    );
    expect(asked).toBe(0);
  });

  it.runIf(existsSync('/dev/full'))('leaves no part of a dump on a full disk', () => {
    const directory = mkdtempSync(join(tmpdir(), 'launch-'));
    made.push(directory);
    symlinkSync('/dev/full', join(directory, 'arg3.bin'));
    const options = { dumpDirectory: directory };
    expect(() => runLaunchSpec(rawSpec('saxpy__n-256-a-1-5'), LAUNCHES, options)).toThrow(
      /dump directory: ENOSPC/,
    );
    expect(readdirSync(directory)).toEqual([]);
  });

  it('passes a pointer into another argument’s buffer', () => {
    const spec = rawSpec('saxpy__n-256-a-1-5');
    const x = spec.args[2] as { buffer: { count: number } };
    x.buffer.count = 512;
    spec.args[3] = { pointer: { of: 2, offsetBytes: 1024 } };
    (x.buffer as Record<string, unknown>)['out'] = true;
    delete spec['expect'];
    const { samples } = runLaunchSpec(spec, LAUNCHES).buffers[0];
    // The second half of x is y: element 511 became 1.5 * x[255] + x[511].
    const expected = Math.fround(Math.fround(mixf(255, 1) * 1.5) + mixf(511, 1));
    expect(samples['511']).toBeCloseTo(expected, 6);
    expect(samples['0']).toBeCloseTo(mixf(0, 1), 6);
  });
});

describe('refusals', () => {
  const change = (edit: (spec: RawSpec) => void): (() => unknown) => {
    const spec = rawSpec('saxpy__n-256-a-1-5');
    edit(spec);
    return () => runLaunchSpec(spec, LAUNCHES);
  };

  it.each([
    [change((spec) => (spec.grid = [0, 1, 1])), 'invalidSpec', /grid\[0\]/],
    [
      change((spec) => (spec['device'] = 'h900')),
      'invalidSpec',
      /device: no device profile 'h900'; there are: h200, /,
    ],
    [change((spec) => (spec['kernel'] = 'nope')), 'invalidSpec', /kernel: no entry 'nope'.*saxpy/],
    [change((spec) => spec.args.pop()), 'invalidSpec', /args: 3 given, but 'saxpy' takes 4/],
    [change((spec) => (spec.args[0] = { i64: 4 })), 'invalidSpec', /args\[0\]: i64 has 8 bytes/],
    [change((spec) => (spec.args[0] = { i33: 4 })), 'invalidSpec', /args\[0\]: expected one of f32/],
    [change((spec) => (spec.args[0] = { i32: 2 ** 40 })), 'invalidSpec', /args\[0\]\.i32/],
    [change((spec) => (spec.args[3] = { pointer: { of: 0 } })), 'invalidSpec', /args\[3\]\.pointer\.of/],
    [
      change((spec) => (spec.args[2] = { buffer: { type: 'f8', count: 1 } })),
      'invalidSpec',
      /args\[2\]\.buffer\.type/,
    ],
    [
      change((spec) => (spec.args[2] = { buffer: { type: 'f32', count: 2, values: [1] } })),
      'invalidSpec',
      /args\[2\]\.buffer\.values/,
    ],
    [
      change(
        (spec) =>
          (spec.args[2] = {
            buffer: { type: 'i64', count: 256, fill: { seed: 1, scale: 1e300, shift: 0 } },
          }),
      ),
      'invalidSpec',
      /args\[2\]\.buffer: element 0 would be/,
    ],
    [
      change((spec) => (spec.grid = [2 ** 31 - 1, 65535, 65535])),
      'refused',
      /grid: .* blocks; the simulator runs at most 2147483647/,
    ],
    [change((spec) => (spec['ptx'] = 'none.ptx')), 'unreadableFile', /none\.ptx/],
    [change((spec) => (spec['block'] = [2048, 1, 1])), 'refused', /block\.x: 2048; the limit is 1024/],
    [
      change((spec) => (spec.args[2] = { buffer: { type: 'f32', count: 100 } })),
      'fault',
      /saxpy\.ptx:\d+, block.*thread/,
    ],
  ])('names what is wrong, case %#', (attempt, code, message) => {
    let error: unknown;
    try {
      attempt();
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(LaunchSpecError);
    expect((error as LaunchSpecError).code).toBe(code);
    expect((error as LaunchSpecError).message).toMatch(message);
  });
});

describe('generators', () => {
  it('mix as the measured program does', () => {
    expect([0, 1, 2].map((index) => mixu(index, 1))).toEqual([0, 1, 2].map((index) => slowMixu(index, 1)));
    expect(mixu(123_456_789, 4_000_000_000)).toBe(slowMixu(123_456_789, 4_000_000_000));
  });

  it('samples six places from first to last', () => {
    expect(sampleIndices(4096)).toEqual([0, 819, 1638, 2457, 3276, 4095]);
    expect(sampleIndices(1)).toEqual([0]);
  });
});

function slowMixu(index: number, seed: number): number {
  const mask = 0xffffffffn;
  let u = ((BigInt(index) + BigInt(seed) * 7919n) * 2654435761n) & mask;
  u ^= u >> 16n;
  u = (u * 0x85ebca6bn) & mask;
  u ^= u >> 13n;
  return Number(u);
}
