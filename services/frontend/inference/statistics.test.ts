import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EngineHarness, firstOf, MS } from '../tests/inference/engineHarness.js';

let harness: EngineHarness;
beforeEach(async () => {
  harness = await EngineHarness.start();
});
afterEach(() => harness.close());

const FOUR = { strategy: 'fixed', maxBatchSize: 4 } as const;

interface Duration {
  readonly count: number;
  readonly ns: number;
}

async function statsOf(model: string): Promise<Record<string, Duration>> {
  return (await harness.statistics(model)).inference_stats as Record<string, Duration>;
}

describe('statistics', () => {
  it('tell copying, computing and waiting apart, for each inference and each size of batch', async () => {
    const parts = { waitNs: 100_000, inputNs: 200_000, outputNs: 300_000 };
    await harness.model('m', FOUR, { serviceNs: MS, parts });
    const asked = harness.infer('m', [1, 2, 3, 4, 5, 6]);
    await harness.open(6);
    harness.run();
    expect((await asked).status).toBe(200);
    const stats = await harness.statistics('m');
    const compute = (count: number) => ({
      compute_input: { count, ns: count * 200_000 },
      compute_infer: { count, ns: count * 400_000 },
      compute_output: { count, ns: count * 300_000 },
    });
    expect(stats).toMatchObject({
      name: 'm',
      version: '1',
      inference_count: 6,
      execution_count: 2,
      inference_stats: {
        success: { count: 1 },
        fail: { count: 0, ns: 0 },
        // The second batch waits for the first.
        queue: { count: 6, ns: 2 * MS + 6 * 100_000 },
        ...compute(6),
        cache_hit: { count: 0, ns: 0 },
        cache_miss: { count: 6 },
      },
      batch_stats: [
        { batch_size: 2, ...compute(1) },
        { batch_size: 4, ...compute(1) },
      ],
    });
    expect(Math.abs(Number(stats.last_inference) - Date.now())).toBeLessThan(60_000);
  });

  it.each([
    ['none', undefined],
    ['more than the whole', { waitNs: 0, inputNs: 2 * MS, outputNs: 0 }],
    ['negative ones', { waitNs: -1, inputNs: 0, outputNs: 0 }],
    ['no numbers', { waitNs: NaN, inputNs: 0, outputNs: 0 }],
  ])('take all as computing when a container tells %s of the parts', async (_what, parts) => {
    await harness.model('m', FOUR, { serviceNs: MS, parts });
    const asked = harness.infer('m', [1]);
    await harness.open(1);
    harness.run();
    await asked;
    const { compute_input, compute_infer, compute_output } = await statsOf('m');
    expect([compute_input.count, compute_infer, compute_output.count]).toEqual([0, { count: 1, ns: MS }, 0]);
  });

  it('count every lookup in the cache once: hits and misses add up', async () => {
    const replica = await harness.model('m', FOUR);
    for (let round = 0; round < 5; round++) {
      const asked = harness.infer('m', [1, 2, 100 + round]);
      await expect.poll(() => harness.engine.inFlight()).toBeGreaterThan(0);
      harness.run();
      expect((await asked).status).toBe(200);
    }
    const { cache_hit, cache_miss, success, queue, compute_infer } = await statsOf('m');
    expect([cache_hit.count, cache_miss.count]).toEqual([8, 7]);
    expect(cache_hit.ns).toBeGreaterThan(0);
    expect(success.count).toBe(5);
    // Hits wait for nothing, and compute nothing.
    expect([queue.count, compute_infer.count]).toEqual([15, 7]);
    expect(replica.batches.flat()).toHaveLength(7);
  });

  it('are exact under concurrency: answered, failed and abandoned requests', async () => {
    const replica = await harness.model('m', FOUR, {
      answer: ({ id, bytes }) =>
        firstOf(bytes) % 5 === 0
          ? { id, ok: false, code: 'modelError', message: 'five' }
          : { id, ok: true, output: '1' },
    });
    const values = Array.from({ length: 40 }, (_, index) => index + 1);
    const statuses = values.map(async (value) => (await harness.infer('m', [value])).status);
    await harness.open(40);
    const aborting = new AbortController();
    const gone = harness.infer('m', [1000, 1001], {}, {}, aborting.signal).catch(() => 'gone');
    await harness.open(42);
    aborting.abort();
    expect(await gone).toBe('gone');
    await harness.open(40);
    harness.run();
    const answered = (await Promise.all(statuses)).filter((status) => status === 200);
    expect(answered).toHaveLength(32);
    const bad = await harness.infer('m', [], {});
    expect(bad.status).toBe(400);
    const stats = await harness.statistics('m');
    // Eight of the model, one abandoned, one that asked for nothing.
    expect(stats).toMatchObject({
      inference_count: 32,
      inference_stats: { success: { count: 32 }, fail: { count: 10 }, cache_miss: { count: 42 } },
    });
    expect(replica.batches.flat()).not.toContain(1000);
  });

  it('count each row that asked a model by name, once, and none that it does not take', async () => {
    await harness.model('m', FOUR, {
      answer: ({ id, bytes }) =>
        firstOf(bytes) < 0
          ? { id, ok: false, code: 'invalidInput', message: 'not below 0' }
          : firstOf(bytes) > 9
            ? { id, ok: false, code: 'modelError', message: 'raised' }
            : { id, ok: true, output: '7' },
    });
    const asked = async (rows: number[], signal?: AbortSignal): Promise<Response> => {
      const answer = harness.infer('m', rows, {}, {}, signal);
      await harness.open(rows.length);
      if (signal === undefined) harness.run();
      return answer;
    };
    expect((await asked([1, 2])).status).toBe(200);
    expect(harness.modelCalls.splice(0)).toEqual(['7', '7']);
    const refused = await asked([-1]);
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('not below 0')]);
    expect(harness.modelCalls).toEqual([]);
    expect((await asked([10])).status).toBe(502);
    expect(harness.modelCalls.splice(0)).toEqual(['model_error']);
    const aborting = new AbortController();
    const gone = asked([3], aborting.signal).catch(() => 'gone');
    await harness.open(1);
    aborting.abort();
    expect(await gone).toBe('gone');
    await harness.open(0);
    expect(harness.modelCalls).toEqual([undefined]);
  });

  it('of every model list every version that is registered, and forget what is deleted', async () => {
    await harness.model('m', FOUR);
    await harness.model('other', FOUR);
    const asked = harness.infer('m', [1]);
    await harness.open(1);
    harness.run();
    await asked;
    expect((await harness.everyStatistics()).map(({ name, version }) => [name, version])).toEqual([
      ['m', '1'],
      ['other', '1'],
    ]);
    await harness.registry.deleteVersion('m', '1');
    expect(await harness.everyStatistics()).toHaveLength(1);
    await harness.model('m', FOUR);
    expect((await statsOf('m')).success).toEqual({ count: 0, ns: 0 });
  });
});
