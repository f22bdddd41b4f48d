import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { planReplay, replay, type ReplayRequest } from '../replay/index.js';
import type { RunResult } from '../result/index.js';
import { batchNs, readHostTimes, writeHostTimes, type HostTimes } from './index.js';

const TIMES: HostTimes = {
  format: 1,
  host: 'made up',
  frontend: { queryUs: 1000, elementNs: 0, wayUs: 500, wayElementNs: 0 },
  models: {
    'digits-mlp': [
      [1, 4],
      [2, 5],
      [4, 6],
    ],
  },
};

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'windjammer-host-'))));
afterAll(() => rmSync(folder, { recursive: true }));

it('lies on the lines between sizes that were measured, and goes on beyond them', () => {
  const times = TIMES.models['digits-mlp'];
  expect([1, 2, 3, 4, 6].map((items) => batchNs(times, items) / 1e6)).toEqual([4, 5, 5.5, 6, 7]);
  expect(batchNs([[2, 4]], 3) / 1e6).toBe(6);
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
    JSON.stringify({ ...TIMES, models: { m: [[1, -1]] } }),
    /models\.m\.0\.1: .*; --host-times measure/,
  ],
  ['another format', JSON.stringify({ ...TIMES, format: 2 }), /format: Invalid input: expected 1/],
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
