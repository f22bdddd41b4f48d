import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { floats, InferenceHarness } from './inferenceHarness.js';

let harness: InferenceHarness;

beforeAll(async () => {
  harness = await InferenceHarness.start();
});
afterAll(() => harness.close());
beforeEach(() => harness.reset());

describe('statistics', () => {
  it('counts what it did, in the form of the statistics extension', async () => {
    const shown = async () =>
      ((await harness.get('/v2/models/m-floats/stats')).json as { model_stats: Record<string, unknown>[] })
        .model_stats[0];
    const before = (await shown()).inference_stats as { success: { count: number } };
    await harness.infer('m-floats', floats([[1]]));
    harness.inner.frontend.onBatch({
      model: 'm-floats',
      version: '1',
      replica: '0',
      size: 3,
      limit: 4,
      newLimit: 4,
      longestQueueNs: 50,
      totalQueueNs: 90,
      serviceNs: 1000,
      roundTripNs: 2000,
      failed: 1,
      failure: 'no',
    });
    const stats = await shown();
    expect(stats).toMatchObject({
      name: 'm-floats',
      version: '1',
      inference_count: 2,
      execution_count: 1,
      inference_stats: {
        success: { count: before.success.count + 1 },
        queue: { count: 3, ns: 90 },
        compute_infer: { count: 1, ns: 1000 },
      },
      batch_stats: [{ batch_size: 3, compute_infer: { count: 1, ns: 1000 } }],
    });
    const all = (await harness.get('/v2/models/stats')).json as { model_stats: unknown[] };
    expect(all.model_stats).toHaveLength(harness.inner.registry.models().length);
  });
});
