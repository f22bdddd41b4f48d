import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Query } from '../prediction/index.js';
import { VirtualClock } from '../../simulator/time/index.js';
import { ArrivalRecorder } from './index.js';

let clock: VirtualClock;
let onQuery: ((query: Query) => void) | undefined;
let recorder: ArrivalRecorder;
let gone: AbortController;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  clock = new VirtualClock();
  onQuery = undefined;
  gone = new AbortController();
  recorder = new ArrivalRecorder({
    clock,
    watch: (listener) => (onQuery = listener),
    inputType: (application) => (application === 'numbers' ? 'doubles' : 'strings'),
  });
});
afterEach(() => vi.useRealTimers());

function query(application: string, input: Uint8Array, context = ''): Query {
  return { id: 'q', application, input, context, features: { age: 33 } };
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

/** The next piece, with time going on until it is there. */
async function next(lines: AsyncGenerator<string>): Promise<string | undefined> {
  const coming = lines.next();
  await vi.advanceTimersByTimeAsync(100);
  const result = await coming;
  return result.done === true ? undefined : result.value;
}

it('writes down what comes, with a hash that tells inputs apart and tells nothing of them', async () => {
  const lines = recorder.record({ seconds: 1, withInputs: false, gone: gone.signal });
  const first = next(lines);
  clock.advanceTo(2_500_000);
  onQuery?.(query('words', text('secret'), 'anna'));
  onQuery?.(query('words', text('secret')));
  onQuery?.(query('words', text('other')));
  const rows = ((await first) ?? '')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(rows[0]).toEqual({
    time_us: 2500,
    application: 'words',
    context: 'anna',
    input_hash: rows[1].input_hash,
  });
  expect(rows[1].input_hash).toMatch(/^[0-9a-f]{16}$/);
  expect(rows[2].input_hash).not.toBe(rows[1].input_hash);
  clock.advanceTo(1e9);
  expect(await next(lines)).toBe('{"end":{"arrivals":3,"dropped":0}}\n');
  expect(await next(lines)).toBeUndefined();
  expect(onQuery).toBeUndefined();
});

it('writes inputs down when asked to, of one application', async () => {
  const lines = recorder.record({ seconds: 1, withInputs: true, application: 'numbers', gone: gone.signal });
  const first = next(lines);
  onQuery?.(query('words', text('left out')));
  onQuery?.(query('numbers', new Uint8Array(new Float64Array([0.5, -1]).buffer)));
  expect(await first).toBe('{"time_us":0,"application":"numbers","features":{"age":33},"input":[0.5,-1]}\n');
  await lines.return(undefined);
});

it('counts what a slow reader has no room for, and holds no more', async () => {
  const lines = recorder.record({ seconds: 1, withInputs: false, gone: gone.signal });
  const first = next(lines);
  const input = new Uint8Array(1024 * 1024);
  for (let at = 0; at < 20; at++) onQuery?.(query('words', input));
  expect(((await first) ?? '').trimEnd().split('\n')).toHaveLength(8);
  clock.advanceTo(1e9);
  expect(await next(lines)).toBe('{"end":{"arrivals":8,"dropped":12}}\n');
});

it('is one at a time, and free again once its reader has gone', async () => {
  const lines = recorder.record({ seconds: 60, withInputs: false, gone: gone.signal });
  expect(() => recorder.record({ seconds: 1, withInputs: false, gone: gone.signal })).toThrow(/already/);
  const first = next(lines);
  gone.abort();
  expect(await first).toBeUndefined();
  expect(onQuery).toBeUndefined();
  const leaves = new AbortController();
  recorder.record({ seconds: 1, withInputs: false, gone: leaves.signal });
  leaves.abort();
  const another = recorder.record({ seconds: 1, withInputs: false, gone: new AbortController().signal });
  await another.return(undefined);
});
