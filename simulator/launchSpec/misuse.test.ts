import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseModule, type IrFunction } from '../ptx/index.js';
import { packArguments } from './arguments.js';
import { elementAt, elements, storeElement } from './elementTypes.js';
import { LaunchSpecError, checkLaunchSpec } from './index.js';
import type { LaunchArgument } from './schema.js';
import { misfit } from './valueRanges.js';
import { checkWorkSpec } from './workSchema.js';

const SAXPY = resolve(import.meta.dirname, '../gpu/reference/launches/saxpy__n-256-a-1-5.json');

function specWith(arg: unknown): Record<string, unknown> {
  const spec = JSON.parse(readFileSync(SAXPY, 'utf8')) as Record<string, unknown>;
  return { ...spec, args: [arg] };
}

function complaint(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    if (error instanceof LaunchSpecError && error.code === 'invalidSpec') return error.message;
    throw error;
  }
  return '';
}

const at64 = { buffer: () => 64, pointer: () => 64, object: () => 64 };
const complaintAbout = (arg: unknown): string => complaint(() => checkLaunchSpec(specWith(arg)));
const buffer = (fields: object): unknown => ({ buffer: { type: 'f32', count: 1, ...fields } });

describe('arguments against the types of parameters', () => {
  function kernelTaking(parameter: string): IrFunction {
    const text = `.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param ${parameter}) { ret; }`;
    return parseModule(text, 'k.ptx').functions[0];
  }
  const packed = (parameter: string, argument: unknown): string =>
    complaint(() => packArguments(kernelTaking(parameter), [argument as LaunchArgument], at64));

  it.each([
    ['.u32 p', { f32: 1 }, "args[0]: f32 given, but parameter 0 of 'k' is .u32; give i32 or u32"],
    ['.s32 p', { f32: 1 }, '.s32; give i32 or u32'],
    ['.u64 p', { f64: 1 }, '.u64; give i64 or u64 or buffer or pointer'],
    ['.f32 p', { i32: 1 }, '.f32; give f32'],
    ['.f32 p', { u32: 1 }, '.f32; give f32'],
    ['.f64 p', { i64: 1 }, '.f64; give f64'],
    ['.f64 p', { buffer: {} }, '.f64; give f64'],
    ['.f64 p', { pointer: { of: 0, offsetBytes: 0 } }, '.f64; give f64'],
  ])('%s refuses %j', (parameter, argument, message) => {
    expect(packed(parameter, argument)).toContain(message);
  });

  it.each([
    ['.u32 p', { i32: -1 }],
    ['.s32 p', { u32: 1 }],
    ['.b32 p', { f32: 1 }],
    ['.b64 p', { f64: 1 }],
    ['.b64 p', { u64: '1' }],
    ['.u64 p', { buffer: {} }],
    ['.align 8 .b8 p[8]', { f64: 1 }],
    ['.align 4 .b8 p[4]', { i32: 1 }],
    ['.u32 p[2]', { f64: 1 }],
    ['.f16 p', { u16: 1 }],
    ['.b16 p', { u16: 1 }],
    ['.u16 p', { u16: 1 }],
    ['.s16 p', { u16: 1 }],
  ])('%s takes %j', (parameter, argument) => {
    expect(packed(parameter, argument)).toBe('');
  });

  it('keeps every digit of a pointer', () => {
    const offsetBytes = Number.MAX_SAFE_INTEGER;
    const bytes = packArguments(kernelTaking('.u64 p'), [{ pointer: { of: 0, offsetBytes } }], at64);
    expect(new DataView(bytes.buffer).getBigUint64(0, true)).toBe(BigInt(offsetBytes) + 64n);
  });
});

describe('numbers against their types', () => {
  it.each([
    ['i8', -128n, 127n],
    ['u8', 0n, 255n],
    ['i16', -32768n, 32767n],
    ['u16', 0n, 65535n],
    ['i32', -(2n ** 31n), 2n ** 31n - 1n],
    ['u32', 0n, 2n ** 32n - 1n],
    ['i64', -(2n ** 63n), 2n ** 63n - 1n],
    ['u64', 0n, 2n ** 64n - 1n],
  ] as const)('%s holds its ends exactly and nothing beyond', (type, low, high) => {
    for (const end of [low, high]) {
      const into = elements(type, new Uint8Array(8));
      expect(misfit(type, String(end))).toBeUndefined();
      storeElement(into, 0, end);
      expect(
        into instanceof BigInt64Array || into instanceof BigUint64Array
          ? into[0]
          : BigInt(elementAt(into, 0)),
      ).toBe(end);
    }
    for (const beyond of [low - 1n, high + 1n]) {
      expect(misfit(type, String(beyond))).toContain(`from ${low} to ${high} (${type})`);
      expect(misfit(type, Number(beyond))).toContain(`from ${low} to ${high} (${type})`);
    }
    expect(misfit(type, 0.5)).toContain('received 0.5');
    for (const other of [null, true, 'x', '', '1.5', [1], Infinity]) {
      expect(misfit(type, other)).toContain('expected a whole number');
    }
  });

  it('asks for a string where a JSON number has lost digits', () => {
    expect(misfit('i64', 2 ** 53)).toContain('give it as a string of decimal digits');
    expect(misfit('u64', 2 ** 53 - 1)).toBeUndefined();
  });

  it('takes only finite floats that their type holds', () => {
    expect(misfit('f32', 1e300)).toContain('use f64');
    expect(misfit('f64', 1e300)).toBeUndefined();
    expect(misfit('f64', Infinity)).toContain('finite');
    expect(misfit('f32', NaN)).toContain('finite');
    expect(misfit('f32', 'NaN')).toBeUndefined();
    expect(misfit('f32', 'nan')).toContain('received "nan"');
  });

  it.each([
    [{ u64: '18446744073709551616' }, 'args[0].u64: expected a whole number from 0'],
    [{ u64: -5 }, 'args[0].u64: expected a whole number from 0'],
    [{ i64: '9223372036854775808' }, 'args[0].i64: expected'],
    [{ u16: 65536 }, 'args[0].u16: expected'],
    [{ f32: 1e300 }, 'args[0].f32: 1e+300 is beyond'],
    [
      buffer({ type: 'i8', values: [300] }),
      'args[0].buffer.values[0]: expected a whole number from -128 to 127',
    ],
    [buffer({ type: 'i64', count: 2, values: [1, 0.5] }), 'args[0].buffer.values[1]: expected a whole'],
    [buffer({ type: 'u64', values: ['-1'] }), 'args[0].buffer.values[0]: expected'],
    [buffer({ values: [null] }), 'args[0].buffer.values[0]: expected a number (f32), received null'],
    [buffer({ values: [1, 2] }), 'args[0].buffer.values: holds 2 values, but count is 1'],
    [buffer({ values: [] }), 'args[0].buffer.values: holds 0 values, but count is 1'],
  ])('refuses %j', (arg, message) => {
    expect(complaintAbout(arg)).toContain(message);
  });

  it.each([
    { i64: '-9223372036854775808' },
    { u64: '18446744073709551615' },
    { u64: 5 },
    buffer({ type: 'u64', values: ['18446744073709551615'] }),
    buffer({ values: [0.5] }),
  ])('takes %j', (arg) => {
    expect(complaintAbout(arg)).toBe('');
  });
});

describe('what messages say', () => {
  const kinds =
    'expected one of f32, f64, f16, bf16, i32, u32, i64, u64, i16, u16, i8, u8, buffer, pointer, texture, surface, struct, tensorMap, and no other field';
  const rules = 'expected one of mix.mod, forest.feature, forest.left, forest.right, forest.root';
  it.each([
    [{}, `args[0]: ${kinds}`],
    [null, `args[0]: ${kinds}`],
    [{ i32: 1, f32: 1 }, `args[0]: ${kinds}`],
    [buffer({ generate: { rule: 'nope' } }), `args[0].buffer.generate.rule: ${rules}`],
    [buffer({ generate: {} }), `args[0].buffer.generate.rule: ${rules}`],
    [
      buffer({ generate: { rule: 'mix.mod', seed: 1 } }),
      'args[0].buffer.generate.mod: is missing; expected a',
    ],
    [{ buffer: { type: 'f32' } }, 'args[0].buffer.count: is missing; expected a'],
    [{ buffer: { count: 1 } }, 'args[0].buffer.type: is missing; expected one of f32, f64, f16'],
    [{ pointer: {} }, 'args[0].pointer.of: is missing; expected a'],
  ])('of %j', (arg, message) => {
    expect(complaintAbout(arg)).toContain(message);
  });

  it.each(['ptx', 'kernel', 'device', 'grid', 'block', 'args'])('without %s', (field) => {
    const rest = Object.fromEntries(Object.entries(specWith({ i32: 1 })).filter(([name]) => name !== field));
    expect(complaint(() => checkLaunchSpec(rest))).toMatch(
      new RegExp(`^${field}: is missing; expected [a-z]+`),
    );
  });
});

describe('the card of a spec', () => {
  const spec = JSON.parse(readFileSync(SAXPY, 'utf8')) as Record<string, unknown>;
  const { device, ...bare } = spec;
  const work = { launches: [{ record: 'start' }] };

  it('may come from an option alone, which stands before what the spec says', () => {
    expect(device).toBe('h200');
    expect(checkLaunchSpec(bare, 'v100').device).toBe('v100');
    expect(checkLaunchSpec(spec, 'v100').device).toBe('v100');
    expect(checkLaunchSpec(spec).device).toBe('h200');
    expect(checkWorkSpec(work, 'v100').device).toBe('v100');
  });

  it('is asked for where nobody names one', () => {
    const message = 'device: is missing; expected a card, such as "h200", here or by --device';
    expect(complaint(() => checkLaunchSpec(bare))).toBe(message);
    expect(complaint(() => checkWorkSpec(work))).toBe(message);
    expect(complaint(() => checkLaunchSpec([bare], 'v100'))).toContain('spec: ');
  });
});

describe('fields of the spec in our words', () => {
  it.each([
    [{ grid: [0, 1, 1] }, 'grid[0]: expected at least 1, found 0'],
    [{ grid: [1.5, 1, 1] }, 'grid[0]: expected a whole number, found 1.5'],
    [{ grid: '4' }, 'grid: expected three whole numbers, [x, y, z], found "4"'],
    [{ grid: [4, 4] }, 'grid: expected at least 3 values, found 2'],
    [{ kernel: '' }, 'kernel: expected at least 1 characters, found 0'],
    [{ ptx: 3 }, 'ptx: expected a string, found 3'],
    [{ cooperative: 1 }, 'cooperative: expected true or false, found 1'],
    [{ dynamicSharedBytes: -1 }, 'dynamicSharedBytes: expected at least 0, found -1'],
    [{ dynamicSharedBytes: 1e308 }, 'dynamicSharedBytes: expected at most 9007199254740991, found 1e+308'],
    [{ cluster: [2, 1] }, 'cluster: expected at least 3 values, found 2'],
    [{ clusters: [2, 1, 1] }, "spec: there is no field 'clusters'; leave it out"],
    [
      { programmaticStreamSerialization: true },
      "spec: 'programmaticStreamSerialization' is not taken: launches of a stream run one after the other here, as griddepcontrol.wait asks and programmatic dependent launch allows; leave it out",
    ],
    [{ expect: { durationUS: 1 } }, "expect: there is no field 'durationUS'; leave it out"],
    [{ expect: { durationUs: '1' } }, 'expect.durationUs: expected a number, found "1"'],
    [{ device: { name: 'x'.repeat(100) } }, `device: expected a string, found {"name":"${'x'.repeat(51)}...`],
    [{ block: undefined }, 'block: is missing; expected three whole numbers, [x, y, z]'],
  ])('%j', (fields, message) => {
    expect(complaint(() => checkLaunchSpec({ ...specWith({ i32: 1 }), ...fields }))).toBe(message);
  });

  it.each([
    [[], 'found []'],
    [null, 'found null'],
  ])('%j is no spec', (value, found) => {
    expect(complaint(() => checkLaunchSpec(value))).toBe(`spec: expected an object, ${found}`);
  });
});
