import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { planReplay, replay, type ReplayRequest } from '../replay/index.js';
import type { RunResult } from '../result/index.js';
import { timesOf } from './hostTimes.js';
import { HostDraws, readHostTimes, SHARES, writeHostTimes, type HostTimes } from './index.js';

/** Every time is this one, whatever the pause. */
const always = (ms: number) => [{ pauseMs: 0, ms: SHARES.map(() => ms) }];

const TIMES: HostTimes = {
  format: 2,
  host: 'made up',
  shares: [...SHARES],
  frontend: {
    clientUs: 0,
    clientByteNs: 0,
    queryUs: 1000,
    byteNs: 0,
    way: always(0.5),
    wayByteNs: 0,
  },
  process: always(0.25),
  models: {
    'digits-mlp': [
      { items: 1, times: always(4) },
      { items: 2, times: always(5) },
      { items: 4, times: always(6) },
    ],
  },
};

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'windjammer-host-'))));
afterAll(() => rmSync(folder, { recursive: true }));

it('lies on the lines between sizes that were measured, and goes on beyond them', () => {
  const draws = new HostDraws(TIMES, 1);
  const ms = (items: number) => draws.batchNs('digits-mlp', '0', items, 0) / 1e6;
  expect([1, 2, 3, 4, 6].map(ms)).toEqual([4, 5, 5.5, 6, 7]);
  const one = new HostDraws({ ...TIMES, models: { one: [{ items: 2, times: always(4) }] } }, 1);
  expect(one.batchNs('one', '0', 3, 0) / 1e6).toBe(6);
});

it('draws times as they were measured, the same for the same seed', () => {
  const measured = Array.from({ length: 1000 }, (_, at) => (at < 900 ? 1 : 10));
  const times = { ...TIMES, process: [{ pauseMs: 0, ms: timesOf(measured) }] };
  const drawn = (seed: number) => {
    const draws = new HostDraws(times, seed);
    return Array.from({ length: 4000 }, (_, at) => draws.processNs(`${at}`, 0) / 1e6);
  };
  expect(drawn(1)).toEqual(drawn(1));
  expect(drawn(1)).not.toEqual(drawn(2));
  const slow = drawn(1).filter((ms) => ms > 5).length / 4000;
  expect(slow).toBeGreaterThan(0.08);
  expect(slow).toBeLessThan(0.17);
});

it('lies between pauses that were measured, and no further than they do', () => {
  const [{ ms: hot }] = always(1);
  const [{ ms: cold }] = always(3);
  const process = [
    { pauseMs: 1, ms: hot },
    { pauseMs: 25, ms: cold },
  ];
  const draws = new HostDraws({ ...TIMES, process }, 1);
  const after = [0, 1, 5, 25, 1000, Infinity].map((pauseMs) => draws.processNs('0', pauseMs * 1e6) / 1e6);
  expect(after.slice(0, 2)).toEqual([1, 1]);
  expect(after[2]).toBeGreaterThan(1);
  expect(after[2]).toBeLessThan(3);
  expect(after.slice(3)).toEqual([3, 3, 3]);
});

it('comes back from its file as it was', () => {
  const path = join(folder, 'times.json');
  writeHostTimes(path, TIMES);
  expect(readHostTimes(path)).toEqual(TIMES);
});

it.each([
  ['nothing', undefined, /--host-times: .*ENOENT/],
  ['no JSON', '{', /--host-times: .*JSON/],
  [
    'a time below zero',
    JSON.stringify({ ...TIMES, models: { m: [{ items: 1, times: always(-1) }] } }),
    /models\.m\.0\.times\.0\.ms\.0: .*; --host-times measure/,
  ],
  [
    'times that fall',
    JSON.stringify({ ...TIMES, process: [{ pauseMs: 0, ms: SHARES.map((share) => 1 - share) }] }),
    /process\.0\.ms: 17 times that do not fall/,
  ],
  [
    'a size that is there twice',
    JSON.stringify({ ...TIMES, models: { m: [1, 1].map((items) => ({ items, times: always(1) })) } }),
    /models\.m: sizes of batches go up, each one once; --host-times measure/,
  ],
  ['another format', JSON.stringify({ ...TIMES, format: 1 }), /format: Invalid input: expected 2/],
])('refuses %s', (_what, text, message) => {
  const path = join(folder, 'bad.json');
  if (text !== undefined) writeFileSync(path, text);
  else rmSync(path, { force: true });
  expect(() => readHostTimes(path)).toThrow(message);
});

async function run(
  hostTimes: HostTimes | undefined,
  rate: number,
): Promise<{ result: RunResult; answers: string[] }> {
  const config = join(folder, 'config.json');
  const model = { model_name: 'digits-mlp', model_version: '1', input_type: 'floats' };
  writeFileSync(
    config,
    JSON.stringify({
      applications: [
        {
          name: 'one',
          input_type: 'floats',
          default_output: '-1',
          latency_slo_micros: 100_000,
          linked_models: ['digits-mlp'],
        },
      ],
      models: [
        {
          ...model,
          container_name: 'windjammer/kernel-model',
          model_data_path: 'containers/models/digits-mlp',
        },
      ],
    }),
  );
  const request: ReplayRequest = {
    trace: `uniform:${rate}`,
    seed: 3,
    scale: 1,
    durationSeconds: 0.5,
    config,
    feedback: { share: 0, delayMs: 0 },
    cacheBytes: 1 << 20,
  };
  const answers: string[] = [];
  const settings = { ...(await planReplay(request)), onAnswer: (line: string) => answers.push(line) };
  const { result } = await replay(hostTimes === undefined ? settings : { ...settings, hostTimes });
  return { result, answers: answers.sort() };
}

it('charges query, way and batch, and answers the same', async () => {
  const card = await run(undefined, 20);
  const host = await run(TIMES, 20);
  expect([card.result.times, host.result.times]).toEqual(['simulated', 'host']);
  expect(card.result.latency?.p50Ms).toBeLessThan(1);
  // 1 ms at the frontend, 4 ms at the node, half a millisecond on the way: each query is alone.
  expect(host.result.latency?.p50Ms).toBeCloseTo(5.5, 1);
  expect(host.result.models[0].service?.p50Ms).toBeCloseTo(4, 1);
  expect(host.answers).toEqual(card.answers);
}, 60_000);

it('makes batches of what waits for a thread that is busy', async () => {
  const { result } = await run(TIMES, 400);
  expect(result.models[0].meanBatchSize).toBeGreaterThan(1.5);
  expect(result.latency?.p50Ms).toBeGreaterThan(5.5);
}, 60_000);

it('has times of all that run', async () => {
  await expect(run({ ...TIMES, models: {} }, 20)).rejects.toThrow(
    /it has no times of the model 'digits-mlp'/,
  );
});
