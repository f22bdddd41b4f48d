import { describe, expect, it } from 'vitest';
import { PacedClock } from '../../simulator/time/index.js';
import type { BatchRecord } from '../batching/index.js';
import { MemoryStore } from '../store/index.js';
import { PredictionEngine, type Answer, type Query } from './index.js';
import { inputOf, Serving, TestContainer, TestObserver, TestRegistry } from './tests/serving.js';

const MS = 1e6;

describe('counts', () => {
  it('of the cache add up: every lookup is one of hit, join and miss, exactly', () => {
    const serving = new Serving().simple();
    serving.container();
    for (let at = 0; at < 150; at++) {
      serving.predict(at % 20);
      serving.predict(at % 20);
      serving.run();
    }
    serving.run();
    const { requests, hits, joins, misses } = serving.engine.cacheStats();
    expect(requests).toBe(300);
    expect(misses).toBe(20);
    expect(hits + joins + misses).toBe(requests);
    expect(joins).toBe(20);
  });

  it('of an ensemble of three that is asked 100 times are 100 for each of its models', () => {
    const serving = new Serving();
    serving.registry.addApplication('app', 'majority');
    const models = ['a', 'b', 'c'];
    for (const model of models) serving.registry.addModel(model);
    serving.registry.link('app', ...models);
    const containers = models.map((model) => serving.container({ model }));
    for (let at = 0; at < 100; at++) {
      serving.predict(at);
      if (at % 3 === 0) serving.run();
    }
    serving.run();
    expect(serving.answers).toHaveLength(100);
    expect(containers.map(({ items }) => items)).toEqual([100, 100, 100]);
    expect(serving.engine.replicas().map(({ items }) => items)).toEqual([100, 100, 100]);
    expect(serving.engine.cacheStats()).toMatchObject({ requests: 300, misses: 300 });
  });
});

describe('what a replica is learned to need', () => {
  it('is its service, and not the wait before it: neither in the queue nor behind another batch', () => {
    for (const credits of [1, 2, 4]) {
      const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 10 }, 10e6);
      serving.container({ credits, serviceNs: (items) => 5 * MS + items * MS });
      for (let at = 0; at < 400; at++) serving.predict(at);
      for (let at = 0; at < 20; at++) {
        serving.run(serving.clock.nowNs() / MS + 700);
        serving.predict(1000 + at);
      }
      serving.run();
      expect(serving.answers.every(({ isDefault }) => !isDefault)).toBe(true);
      // Single items at the end; before, hundreds had waited for half a second.
      expect(serving.engine.replicas()[0].fullItemNs).toBeCloseTo(1.5 * MS, -5.5);
    }
  });
});

describe('times on a clock that the wall sets the pace of', () => {
  it('are never negative: a query may come between the time of a dispatch and its run', async () => {
    let wallNs = 0;
    const clock = new PacedClock({ wallNs: () => wallNs, pollWithinNs: Infinity });
    const records: BatchRecord[] = [];
    const observer = new TestObserver();
    observer.onBatch = (record) => records.push(record);
    const registry = new TestRegistry()
      .addApplication('app')
      .addModel('m', '1', { strategy: 'fixed', maxBatchSize: 8 })
      .link('app', 'm');
    const engine = new PredictionEngine({ clock, registry, store: new MemoryStore(), seed: 7, observer });
    const container = new TestContainer(clock, { model: 'm', manual: true });
    engine.addReplica(container);
    const sink = { onAnswer: () => undefined, onRefusal: () => undefined };
    for (const [at, ms] of [1, 4, 6].entries()) {
      wallNs = ms * MS;
      engine.predict({ id: `q${at}`, application: 'app', context: '', input: inputOf(at) }, sink);
    }
    wallNs = 7 * MS;
    await new Promise((resolve) => setImmediate(resolve));
    wallNs = 9 * MS;
    container.give(container.frames[0], container.resultsOf(container.frames[0]), 1.5 * MS);
    expect(records).toMatchObject([
      { size: 3, longestQueueNs: 6 * MS, totalQueueNs: 10 * MS, roundTripNs: 2 * MS },
    ]);
    engine.close();
    clock.close();
  });

  it('are those of the wall: an answer whose deadline is told late, since the host stood still, is late', async () => {
    let wallNs = 0;
    const clock = new PacedClock({ wallNs: () => wallNs, pollWithinNs: Infinity });
    const registry = new TestRegistry().addApplication('app').addModel('m', '1').link('app', 'm');
    const engine = new PredictionEngine({
      clock,
      registry,
      store: new MemoryStore(),
      seed: 7,
      observer: new TestObserver(),
    });
    engine.addReplica(new TestContainer(clock, { model: 'm', manual: true }));
    const answers: Answer[] = [];
    const sink = {
      onAnswer: (_: Query, answer: Answer) => void answers.push(answer),
      onRefusal: () => undefined,
    };
    engine.predict({ id: 'q', application: 'app', context: '', input: inputOf(1) }, sink);
    wallNs = 5_000 * MS;
    await new Promise((resolve) => setImmediate(resolve));
    expect(answers).toMatchObject([{ isDefault: true, latencyNs: 5_000 * MS }]);
    engine.close();
    clock.close();
  });
});
