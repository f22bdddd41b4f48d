import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CsvReader } from './csvReader.js';
import { openTrace, type Arrival } from './index.js';

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'windjammer-trace-'))));
afterAll(() => rmSync(folder, { recursive: true }));

function file(text: string | Uint8Array): string {
  const path = join(folder, 'trace.csv');
  writeFileSync(path, text);
  return path;
}

function arrivalsOf(text: string | Uint8Array, scale = 1): Arrival[] {
  const trace = openTrace({ spec: file(text), scale, seed: 1 });
  try {
    const arrivals: Arrival[] = [];
    for (let next = trace.next(); next !== undefined; next = trace.next()) arrivals.push(next);
    return arrivals;
  } finally {
    trace.close();
  }
}

const ms = (arrivals: readonly Arrival[]) => arrivals.map(({ atNs }) => Math.round(atNs / 1e3) / 1e3);

it.each([
  ['time_s\n5\n5.25\n7\n', [0, 250, 2000]],
  ['Seconds,anything\n0,x\n1e-3,y', [0, 1]],
  ['time_ms\r\n10\r\n12.5\r\n', [0, 2.5]],
  // The Azure LLM inference traces.
  [
    'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n',
    [0, 52],
  ],
  ['timestamp\n2024-02-28T23:59:59Z\n2024-02-29T01:00:00+01:00\n', [0, 1000]],
  ['timestamp\n1700000000.25\n1700000000.5\n', [0, 250]],
])('reads %j', (text, expected) => {
  const arrivals = arrivalsOf(text);
  expect(arrivals.map(({ atNs }) => atNs / 1e6).map((at) => Number(at.toFixed(3)))).toEqual(expected);
});

it('reads what is asked, of whom, and what is right', () => {
  const [first, second, third] = arrivalsOf(
    'time_s,application,context,input,label\n0,digits,alice,"[1, 2.5]",7\n\n1,,,plain text,\n2,noop,,"say ""hi""\nthere",no\n',
    2,
  );
  expect(first).toMatchObject({
    application: 'digits',
    context: 'alice',
    input: [1, 2.5],
    label: '7',
    atNs: 0,
  });
  expect(second).toMatchObject({ input: 'plain text', atNs: 5e8 });
  expect(second).not.toHaveProperty('application');
  expect(third).toMatchObject({
    input: 'say "hi"\nthere',
    label: 'no',
    where: expect.stringMatching(/:5$/) as string,
  });
  expect(arrivalsOf('t_s,sample\n0,12\n')[0].sample).toBe(12);
});

it('brings any fields through a file, whatever they hold and wherever a read ends', () => {
  const field = fc.oneof(fc.string(), fc.constantFrom('"', ',', '\n', '""', 'é😀', 'x'.repeat(70_000)));
  fc.assert(
    fc.property(fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { maxLength: 6 }), (records) => {
      const quoted = records.map((fields) => fields.map((one) => `"${one.replaceAll('"', '""')}"`).join(','));
      const reader = new CsvReader(file(quoted.map((line) => `${line}\n`).join('')));
      try {
        for (const fields of records) expect(reader.next()).toEqual(fields);
        expect(reader.next()).toBeUndefined();
      } finally {
        reader.close();
      }
    }),
    { seed: 41, numRuns: 60 },
  );
});

it('gives a generated trace back', () => {
  const source = openTrace({ spec: 'bursty:50', scale: 1, seed: 5 });
  const times = Array.from({ length: 2000 }, () => (source.next()?.atNs ?? 0) / 1e9);
  const back = ms(arrivalsOf(`time_s\n${times.map((time) => time.toFixed(9)).join('\n')}\n`));
  back.forEach((at, index) => expect(at).toBeCloseTo(Math.round((times[index] - times[0]) * 1e9) / 1e6, 2));
});

it.each<[string, string | Uint8Array, RegExp]>([
  ['an empty file', '', /:1: the file is empty: the first line names the columns/],
  [
    'no arrival',
    'time_s\n',
    /:1: the trace has a header and no arrival|:2: the trace has a header and no arrival/,
  ],
  [
    'no header',
    '0.5,1\n1.5,2\n',
    /:1: no column of arrival times: the first line must name one of time_s, .*'0\.5', '1'/,
  ],
  ['two times', 'time_s,time_ms\n0,0\n', /:1: time_s and time_ms both give arrival times/],
  ['a column twice', 'time_s,label,label\n0,a,b\n', /:1: two columns are named 'label'/],
  ['two inputs', 'time_s,input,sample\n0,1,2\n', /:1: input and sample both say what is asked/],
  ['a bad time', 'time_s\n0\nsoon\n', /:3: time_s is 'soon': it must be a number of seconds/],
  [
    'a day that is none',
    'timestamp\n2023-02-30 00:00:00\n',
    /:2: timestamp is '2023-02-30 00:00:00': it must be a date/,
  ],
  ['disorder', 'time_s\n0\n2\n1\n', /:4: time_s '1' is before the line above: sort the file by time/],
  ['a time beyond all traces', 'time_s\n0\n1e308\n', /:3: time_s '1e308' is more than a century after/],
  ['a missing field', 'time_s,label\n0,a\n1\n', /:3: 1 fields, and the header has 2/],
  ['an unquoted list', 'time_s,input\n0,[1,2]\n', /:2: 3 fields, and the header has 2: quote a field/],
  ['no JSON', 'time_s,input\n0,"[1,"\n', /:2: input '\[1,' is no JSON/],
  ['no sample', 'time_s,sample\n0,-1\n', /:2: sample is '-1': it must be the number of an input/],
  ['an open quote', 'time_s,input\n0,"[1]\n1,2\n', /:2: the file ends inside quotes/],
  ['a stray quote', 'time_s,input\n0,a"b"\n', /:2: a quote inside a field/],
  ['no UTF-8', Uint8Array.of(0x74, 0xff, 0x0a), /it is not UTF-8/],
])('names the line and the fix: %s', (_what, text, message) => {
  expect(() => arrivalsOf(text)).toThrow(message);
});
