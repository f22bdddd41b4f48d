import { describe, expect, it } from 'vitest';
import type { BatchingChoice } from '../registry/index.js';
import { Serving } from './tests/serving.js';

const MS = 1e6;
const delayed = { strategy: 'fixed', maxBatchSize: 16, delayUs: 2000 } as const;

/** Ten queries of which each gets a batch of its own: the replica is known from now on. */
function warm(serving: Serving): void {
  for (let at = 0; at < 10; at++) {
    serving.predict(100_000 + at);
    serving.run();
  }
}

describe('delayed batching', () => {
  it('holds a batch that is not full for company, from its first query on', () => {
    const serving = new Serving().simple(delayed, 100_000);
    const container = serving.container({ serviceNs: () => MS });
    warm(serving);
    const startNs = serving.clock.nowNs();
    const ids = [0, 0.5, 1, 1.9].map((ms) => {
      serving.clock.run(startNs + ms * MS);
      return serving.predict(ms);
    });
    serving.run();
    expect(container.sizes.at(-1)).toBe(4);
    expect(ids.map((id) => serving.answer(id).latencyNs / MS)).toEqual(
      [3, 2.5, 2, 1.1].map((ms) => expect.closeTo(ms, 6) as number),
    );
  });

  it('holds no batch that is full', () => {
    const serving = new Serving().simple({ ...delayed, maxBatchSize: 4 }, 100_000);
    const container = serving.container({ serviceNs: () => MS });
    warm(serving);
    const ids = [0, 1, 2, 3].map((value) => serving.predict(value));
    serving.run();
    expect(container.sizes.at(-1)).toBe(4);
    for (const id of ids) expect(serving.answer(id).latencyNs).toBe(MS);
  });

  it('never makes the most urgent late: what a batch is known to take is kept free', () => {
    const serving = new Serving().simple({ ...delayed, delayUs: 50_000 }, 100_000);
    serving.container({ serviceNs: () => 4 * MS });
    warm(serving);
    const patient = serving.predict(1);
    serving.run(serving.clock.nowNs() / MS + 1);
    const urgent = serving.predict(2, { budgetNs: 8 * MS });
    serving.run();
    expect(serving.answer(urgent)).toMatchObject({ isDefault: false, output: '2' });
    // 8 ms, less 4 ms and a quarter of that to spare.
    expect(serving.answer(urgent).latencyNs).toBeCloseTo(7 * MS, -3);
    expect(serving.answer(patient).latencyNs).toBeCloseTo(8 * MS, -3);
  });

  it('waits at most half of the time there is while nothing is known of the replica', () => {
    const serving = new Serving().simple({ ...delayed, delayUs: 90_000 }, 20_000);
    serving.container({ serviceNs: () => 4 * MS });
    const id = serving.predict(1);
    serving.run();
    expect(serving.answer(id)).toMatchObject({ isDefault: false, latencyNs: 14 * MS });
  });

  it('is no delay for those who come while a batch is on its way, beyond their own', () => {
    const serving = new Serving().simple(delayed, 100_000);
    const container = serving.container({ serviceNs: () => 10 * MS });
    warm(serving);
    const startNs = serving.clock.nowNs();
    serving.predict(1);
    serving.clock.run(startNs + 5 * MS);
    const second = serving.predict(2);
    serving.run();
    expect(container.sizes.slice(-2)).toEqual([1, 1]);
    // Sent when the one before it came back: 2 + 10 + 10 ms after the first came.
    expect(serving.answer(second).latencyNs).toBeCloseTo(17 * MS, -3);
  });

  it.each([
    { strategy: 'aimd' },
    { strategy: 'quantile' },
    { strategy: 'fixed', maxBatchSize: 512 },
  ] as BatchingChoice[])('pays where a batch costs much and an item little (%j)', (batching) => {
    const perSecond = (choice: BatchingChoice): number => {
      const serving = new Serving().simple(choice, 20_000);
      serving.container({ serviceNs: (items) => 2 * MS + items * 1000 });
      let served = 0;
      for (let at = 0; at < 4000; at++) {
        serving.predict(at);
        serving.clock.run(serving.clock.nowNs() + 0.25 * MS);
      }
      serving.run();
      served = serving.engine.replicas()[0].items / serving.engine.replicas()[0].batches;
      expect(serving.answers.filter(({ isDefault }) => isDefault).length).toBeLessThan(100);
      return served;
    };
    expect(perSecond({ ...batching, delayUs: 4000 } as BatchingChoice)).toBeGreaterThan(
      1.5 * perSecond(batching),
    );
  });

  it.each([-1, NaN, Infinity])('is never %d: the replica is not taken into use', (delayUs) => {
    const serving = new Serving().simple({ strategy: 'aimd', delayUs });
    expect(serving.container().closed).toBe(true);
    expect(serving.observer.events[0]).toMatch(/delayUs must be 0 or more microseconds/);
  });
});
