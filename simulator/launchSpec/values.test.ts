import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isWorkSpec, readSpec, runLaunchSpec, runWorkSpec } from './index.js';

const PTX = `.version 9.0
.target sm_90
.address_size 64
.visible .entry idle(.param .u64 a, .param .u64 b, .param .f64 c) { ret; }
`;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'values-'));
  writeFileSync(join(folder, 'idle.ptx'), PTX);
});
afterAll(() => rmSync(folder, { recursive: true }));

function specOf(text: string): unknown {
  const path = join(folder, 'spec.json');
  writeFileSync(path, text);
  return readSpec(path);
}

const LAUNCH = '"kernel":"idle","grid":[1,1,1],"block":[1,1,1]';

it('takes and reports integers of 64 bits, and floats that JSON has no number for, as they are', () => {
  const u64 = '{"type":"u64","count":3,"out":true,"values":[18446744073709551615,9007199254740993,"7"]}';
  const f32 = '{"type":"f32","count":4,"out":true,"values":["NaN","-Infinity",-0,0.1]}';
  const spec = specOf(
    `{"ptx":"idle.ptx","device":"h200",${LAUNCH},"args":[{"buffer":${u64}},{"buffer":${f32}},{"f64":"Infinity"}]}`,
  );
  const [integers, floats] = runLaunchSpec(spec, folder).buffers;
  expect(integers.samples).toEqual({ 0: '18446744073709551615', 1: '9007199254740993', 2: 7 });
  expect(floats.samples).toEqual({ 0: 'NaN', 1: '-Infinity', 2: -0, 3: 0.1 });
});

it('holds integers of 64 bits to expectations that are written as numbers', () => {
  const buffer = '{"type":"i64","count":2,"out":true,"values":[-9007199254740993,1]}';
  const asExpected = (sample: string) => {
    const spec = specOf(
      `{"ptx":"idle.ptx","device":"h200","streams":{"a":{}},"buffers":{"out":${buffer}},
        "launches":[{"stream":"a",${LAUNCH},"args":[{"pointer":{"of":"out"}},{"pointer":{"of":"out"}},{"f64":0}]}],
        "expect":{"buffers":{"out":{"sum":-9007199254740992,"samples":{"0":${sample},"1":1}}}}}`,
    );
    expect(isWorkSpec(spec)).toBe(true);
    return runWorkSpec(spec, folder).buffers[0].asExpected;
  };
  expect(asExpected('-9007199254740993')).toBe(true);
  expect(asExpected('-9007199254740992')).toBe(false);
});
