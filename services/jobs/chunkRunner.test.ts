import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { LineOutcome } from '../frontend/index.js';
import { ChunkRunner } from './chunkRunner.js';
import { SpareRoom } from './spareRoom.js';

beforeEach(
  () =>
    void vi.useFakeTimers({
      toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'performance'],
    }),
);
afterEach(() => void vi.useRealTimers());

const JOB = {
  id: 'job',
  application: 'app',
  launchClass: 'bestEffort',
  lines: 3,
  chunks: 1,
  inputBytes: 9,
  createdMs: 0,
} as const;
const CHUNK = { firstLine: 7, lines: ['[1]', '', '[2]'] };

function harness() {
  const others = { inFlight: 0, taken: 0 };
  const asked: { readonly line: string; readonly done: (outcome: LineOutcome) => void }[] = [];
  const room = new SpareRoom({ others: () => others });
  const runner = new ChunkRunner((_application, line, _class, done) => {
    asked.push({ line, done });
    return () => undefined;
  }, room);
  return { others, asked, runner, run: () => runner.run(JOB, CHUNK, () => true) };
}

const answer = (json: string): LineOutcome => ({ json, passes: false });

it('gives results with the numbers of their lines', async () => {
  const { asked, runner, run } = harness();
  const results = run();
  await vi.advanceTimersByTimeAsync(20);
  expect(asked.map(({ line }) => line)).toEqual(['[1]', '[2]']);
  asked[1].done({ ...answer('{"error":{}}'), error: 'not_json' });
  asked[0].done(answer('{"output":1}'));
  expect(await results).toEqual({
    text: '{"line":7,"output":1}\n{"line":9,"error":{}}\n',
    answered: 2,
    failed: 1,
  });
  runner.stop();
});

it('gives a chunk back for which there is no room, and asks nothing of it later', async () => {
  const { others, asked, runner, run } = harness();
  others.inFlight = 1;
  const first = run();
  // One line a second is asked while others ask; it takes its time, and is no reason to give up.
  await vi.advanceTimersByTimeAsync(100);
  expect(asked).toHaveLength(1);
  const second = run();
  await vi.advanceTimersByTimeAsync(4000);
  expect(await second).toBeUndefined();
  others.inFlight = 0;
  await vi.advanceTimersByTimeAsync(200);
  expect(asked.map(({ line }) => line)).toEqual(['[1]', '[2]']);
  for (const { done } of asked) done(answer('{}'));
  expect((await first)?.answered).toBe(2);
  runner.stop();
});

it('gives a chunk back that nobody answers here', async () => {
  const { asked, runner, run } = harness();
  const results = run();
  const refuse = setInterval(() => {
    for (const { done } of asked.splice(0))
      done({ json: '{}', error: 'default_unavailable', passes: 'surely' });
  }, 5);
  await vi.advanceTimersByTimeAsync(4000);
  expect(await results).toBeUndefined();
  clearInterval(refuse);
  runner.stop();
});
