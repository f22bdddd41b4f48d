import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { parseLoggedFeedback, type LoggedFeedback } from '../../selection/index.js';
import type { Query } from '../prediction/index.js';
import { VirtualClock } from '../../simulator/time/index.js';
import { ArrivalRecorder } from './index.js';

let clock: VirtualClock;
let onQuery: ((query: Query) => void) | undefined;
let onJudged: ((judged: LoggedFeedback) => void) | undefined;
let recorder: ArrivalRecorder;
let gone: AbortController;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  clock = new VirtualClock();
  onQuery = undefined;
  onJudged = undefined;
  gone = new AbortController();
  recorder = new ArrivalRecorder({
    clock,
    watch: (listener) => (onQuery = listener),
    watchFeedback: (listener) => (onJudged = listener),
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

it('writes down what was judged in place of arrivals, as it is read for evaluation', async () => {
  const request = { seconds: 1, withInputs: false, ofFeedback: true, gone: gone.signal };
  const lines = recorder.record({ ...request, application: 'words' });
  const first = next(lines);
  expect(onQuery).toBeUndefined();
  const judged: LoggedFeedback = {
    application: 'words',
    policy: 'exp3',
    context: 'anna',
    features: { age: 33 },
    linked: ['a', 'b'],
    propensity: 0.25,
    losses: { a: 1 },
  };
  onJudged?.({ ...judged, application: 'numbers' });
  onJudged?.(judged);
  onJudged?.({ ...judged, context: '', features: undefined, propensity: undefined });
  const [known, unknown] = ((await first) ?? '').trimEnd().split('\n');
  expect(parseLoggedFeedback(known, 'line 1')).toEqual(judged);
  expect(JSON.parse(unknown)).toEqual({
    time_us: 0,
    application: 'words',
    policy: 'exp3',
    linked: ['a', 'b'],
    losses: { a: 1 },
  });
  const large = Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`f${at}`, at]));
  for (let at = 0; at < 1100; at++) onJudged?.({ ...judged, features: large });
  const second = lines.next();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(
    String((await second).value)
      .trimEnd()
      .split('\n'),
  ).toHaveLength(1024);
  clock.advanceTo(1e9);
  expect(await next(lines)).toBe('{"end":{"arrivals":1026,"dropped":76}}\n');
  expect(await next(lines)).toBeUndefined();
  expect(onJudged).toBeUndefined();
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
