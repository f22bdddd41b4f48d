import { describe, expect, it } from 'vitest';
import type { PredictionObserver } from '../prediction/index.js';
import { inputOf, Serving, TestContainer } from '../prediction/tests/serving.js';
import { Telemetry } from './index.js';

const MS = 1e6;

/** An engine on a virtual clock, with the telemetry of a server. */
class CountedServing {
  readonly serving: Serving;
  private readonly telemetry: Telemetry;

  constructor(cacheBytes?: number) {
    const options: { observer?: PredictionObserver; cacheBytes?: number } = {};
    if (cacheBytes !== undefined) options.cacheBytes = cacheBytes;
    this.serving = new Serving(options);
    this.telemetry = new Telemetry(this.serving.registry);
    options.observer = this.telemetry;
  }

  /** Sums of all series with these labels, by metric name. */
  async sums(labels: Readonly<Record<string, string>> = {}): Promise<(name: string) => number> {
    const { text } = await this.scrape();
    const wanted = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
    const sums = new Map<string, number>();
    for (const line of text.split('\n')) {
      const match = /^(windjammer_\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
      if (match === null || !wanted.every((label) => (match[2] ?? '').split(',').includes(label))) continue;
      sums.set(match[1], (sums.get(match[1]) ?? 0) + Number(match[3]));
    }
    return (name) => sums.get(name) ?? 0;
  }

  private attached = false;

  private scrape(): Promise<{ text: string }> {
    if (!this.attached) {
      this.telemetry.attach(this.serving.engine, {
        replicas: () => [],
        wanted: () => [],
        canaries: () => [],
        trials: () => [],
        nodes: () => [],
      });
    }
    this.attached = true;
    return this.telemetry.text('prometheus').then(({ bytes }) => ({ text: String(bytes) }));
  }
}

describe('the metrics of a server', () => {
  it('count hits, misses and joins that add up to the lookups, exactly', async () => {
    const counted = new CountedServing(20_000);
    const { serving } = counted;
    serving.simple();
    serving.container({ serviceNs: () => 2 * MS });
    let lookups = 0;
    for (let round = 0; round < 400; round++) {
      for (const value of [round % 60, round % 7, round % 7]) {
        serving.predict(value);
        lookups += 1;
      }
      serving.run(round);
    }
    serving.run();
    const total = await counted.sums({ model: 'm', version: '1' });
    const lookupsOf = async (result: string) =>
      (await counted.sums({ result }))('windjammer_cache_lookups_total');
    const [hits, joins, misses] = [await lookupsOf('hit'), await lookupsOf('join'), await lookupsOf('miss')];
    expect(hits).toBeGreaterThan(0);
    expect(joins).toBeGreaterThan(0);
    expect(hits + joins + misses).toBe(lookups);
    expect(total('windjammer_cache_lookups_total')).toBe(lookups);
    expect(total('windjammer_evaluations_total')).toBe(misses);
    expect((await counted.sums({ outcome: 'predicted' }))('windjammer_evaluations_total')).toBe(misses);
    expect(total('windjammer_cache_evictions_total')).toBeGreaterThan(0);
    expect(serving.engine.cacheStats()).toMatchObject({ requests: lookups, hits, joins, misses });
  });

  it('count an ensemble of three called a hundred times: a hundred each, and a hundred queries', async () => {
    const counted = new CountedServing();
    const { serving } = counted;
    serving.registry.addApplication('app', 'majority').link('app', 'a', 'b', 'c');
    for (const model of ['a', 'b', 'c']) {
      serving.registry.addModel(model);
      serving.container({ model });
    }
    for (let value = 0; value < 100; value++) {
      serving.predict(value);
      serving.run(value);
    }
    serving.run();
    for (const model of ['a', 'b', 'c']) {
      const sum = await counted.sums({ model });
      expect(sum('windjammer_predictions_total')).toBe(100);
      expect(sum('windjammer_cache_lookups_total')).toBe(100);
      expect(sum('windjammer_batch_size_sum')).toBe(100);
    }
    const app = await counted.sums({ application: 'app' });
    expect(app('windjammer_queries_total')).toBe(100);
    expect(app('windjammer_query_latency_seconds_count')).toBe(100);
    expect((await counted.sums({ outcome: 'predicted' }))('windjammer_queries_total')).toBe(100);
  });

  it('end every evaluation in exactly one way: predicted, failed, expired, cancelled, without a replica', async () => {
    const counted = new CountedServing();
    const { serving } = counted;
    serving.simple({ strategy: 'fixed', maxBatchSize: 2 }, 10_000);
    serving.predict(1000);
    serving.run();
    let container = new TestContainer(serving.clock, { model: 'm', serviceNs: () => 4 * MS });
    serving.engine.addReplica(container);
    let asked = 1;
    for (let round = 0; round < 300; round++) {
      const id = serving.predict(inputOf(round));
      asked += 1;
      if (round % 11 === 0) serving.engine.cancel(id);
      if (round % 97 === 96) {
        const lost = container;
        container = new TestContainer(serving.clock, { model: 'm', serviceNs: () => 4 * MS });
        serving.engine.addReplica(container);
        lost.die();
      }
      serving.run(round);
    }
    serving.run();
    const all = await counted.sums();
    expect(all('windjammer_evaluations_total')).toBe(asked);
    const of = async (outcome: string) => (await counted.sums({ outcome }))('windjammer_evaluations_total');
    expect(await of('no_replica')).toBe(1);
    const cancelled = await counted.sums({ outcome: 'cancelled' });
    expect(cancelled('windjammer_evaluations_total')).toBe(cancelled('windjammer_queries_total'));
    expect(await of('cancelled')).toBeGreaterThan(10);
    expect(await of('predicted')).toBeGreaterThan(0);
    expect((await of('expired')) + (await of('overload'))).toBeGreaterThan(0);
    expect(all('windjammer_queries_total')).toBe(asked);
    expect(all('windjammer_replica_losses_total')).toBe(3);
    expect(all('windjammer_requeued_inputs_total')).toBeGreaterThan(0);
    expect(all('windjammer_queries_in_flight')).toBe(0);
    expect(all('windjammer_cache_pending')).toBe(0);
  });
});
