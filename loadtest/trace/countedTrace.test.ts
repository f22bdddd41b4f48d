import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTrace, type Arrival, type TraceRequest } from './index.js';

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'windjammer-trace-'))));
afterAll(() => rmSync(folder, { recursive: true }));

function read(
  text: string,
  more: Partial<TraceRequest> = {},
): { arrivals: Arrival[]; summary: readonly string[] } {
  const spec = join(folder, 'trace.csv');
  writeFileSync(spec, text);
  const trace = openTrace({ spec, seed: 1, scale: 1, ...more });
  try {
    const arrivals: Arrival[] = [];
    for (let arrival = trace.next(); arrival !== undefined; arrival = trace.next()) arrivals.push(arrival);
    return { arrivals, summary: trace.summary };
  } finally {
    trace.close();
  }
}

const seconds = (arrivals: readonly Arrival[]): number[] => arrivals.map(({ atNs }) => atNs / 1e9);

const FUNCTIONS = [
  'HashOwner,HashApp,HashFunction,Trigger,1,2,3',
  'o,a,often,http,100,0,50',
  'o,a,seldom,timer,1,1,',
].join('\n');

describe('Azure Functions 2019', () => {
  it('has as many arrivals in each minute as are counted', () => {
    const { arrivals, summary } = read(FUNCTIONS);
    const at = seconds(arrivals);
    expect([0, 1, 2].map((minute) => at.filter((time) => Math.floor(time / 60) === minute).length)).toEqual([
      101, 1, 50,
    ]);
    expect(at).toEqual([...at].sort((a, b) => a - b));
    expect(summary[0]).toContain('(azure-2019): 152 arrivals, first 0 s, last 120 s, span 180 s');
    expect(summary[2]).toContain('at most 101 in 60 s, of which only their number is known');
  });

  it('spreads them evenly when asked to', () => {
    const { arrivals } = read('HashOwner,HashApp,HashFunction,Trigger,1\no,a,f,http,4\n', { spread: 'even' });
    expect(seconds(arrivals)).toEqual([0, 15, 30, 45]);
  });

  it('deals each function as a whole', () => {
    const deal = { groups: 2, of: (key: string) => (key === 'often' ? 0 : 1) };
    const { arrivals } = read(FUNCTIONS, { deal });
    expect([0, 1].map((group) => arrivals.filter((one) => one.group === group).length)).toEqual([150, 2]);
  });

  it.each([
    [
      'a cell that is no count',
      'HashOwner,HashApp,HashFunction,Trigger,1\no,a,f,http,x\n',
      /:2: minute 1 is 'x'/,
    ],
    [
      'a minute that is missing',
      'HashOwner,HashApp,HashFunction,Trigger,1,3\n',
      /after minute 1 is '3', not 2/,
    ],
    ['no call', 'HashOwner,HashApp,HashFunction,Trigger,1\no,a,f,http,0\n', /it counts no arrival at all/],
  ])('refuses %s', (_what, text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});

it('Azure Functions 2021: calls arrive so long before their end', () => {
  const { arrivals } = read('app,func,end_timestamp,duration\na,f,3.5,3\na,g,4,0.5\na,f,4.5,3.5\n');
  expect(seconds(arrivals)).toEqual([0, 0.5, 3]);
  expect(() => read('app,func,end_timestamp,duration\na,f,soon,1\n')).toThrow(/:2: end_timestamp is 'soon'/);
});

it('numbers a line are counts of seconds', () => {
  const { arrivals } = read('3\n0\n2\n');
  expect(seconds(arrivals).map(Math.floor)).toEqual([0, 0, 0, 2, 2]);
  expect(() => read('3\n2.5\n')).toThrow(/:2: '2.5' is no whole number/);
});

it('rows with a count are spread until the next, those of one time mixed', () => {
  const { arrivals, summary } = read('time_s,application,count\n0,a,40\n0,b,40\n10,a,1\n20,b,0\n');
  expect(arrivals).toHaveLength(81);
  const first = arrivals.slice(0, 80).map(({ application }) => application);
  expect(first.filter((name) => name === 'a')).toHaveLength(40);
  expect(first.slice(0, 40)).toContain('b');
  expect(summary[2]).toContain('at most 80 in 10 s');
});

describe('--column', () => {
  it('takes a file with names of its own', () => {
    const { arrivals } = read('arrived,who,timestamp\n10,a,x\n12,b,y\n', {
      columns: ['time_s=arrived', 'application=who'],
    });
    expect(arrivals.map(({ application, atNs }) => [application, atNs])).toEqual([
      ['a', 0],
      ['b', 2e9],
    ]);
    const lines = read('{"T":1,"v":"x"}\n{"T":2,"v":"y"}\n', { columns: ['time_ms=t', 'input=v'] });
    expect(lines.arrivals.map(({ input }) => input)).toEqual(['x', 'y']);
  });

  it.each([
    [['times=arrived'], /--column: 'times=arrived' is no NAME=COLUMN, with a NAME of time_s/],
    [['time_s=when'], /:1: there is no column 'when', which --column names/],
    [['time_s=arrived', 'time_ms=arrived'], /'arrived' is given two names/],
  ])('refuses %j', (columns, message) => {
    expect(() => read('arrived\n1\n', { columns })).toThrow(message);
  });
});

it('a ramp goes from one rate to the other', () => {
  const trace = openTrace({ spec: 'ramp:10..1000', seed: 1, scale: 1, durationSeconds: 20 });
  const at: number[] = [];
  for (let next = trace.next(); next !== undefined && next.atNs < 20e9; next = trace.next())
    at.push(next.atNs / 1e9);
  const inSecond = (second: number): number => at.filter((time) => Math.floor(time) === second).length;
  expect(inSecond(0)).toBeLessThan(80);
  expect(inSecond(19)).toBeGreaterThan(850);
  expect(trace.meanPerSecond).toBe(505);
  expect(() => openTrace({ spec: 'ramp:10', seed: 1, scale: 1 })).toThrow(
    /TO of ramp:FROM\.\.TO must be a number/,
  );
});
