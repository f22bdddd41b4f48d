import { describe, expect, it } from 'vitest';
import type { BatchingChoice } from '../registry/index.js';
import type { Answer, Query } from './types.js';
import { inputOf, Serving } from './tests/serving.js';

const MS = 1e6;

/**
 * Clients that ask again as soon as they are answered, at a model of 5 ms + 0.25 ms an item with two batches in flight and
 * an objective of 100 ms: batches of 128, one after the other, do 3,459 a second.
 */
function closedLoop(clients: number, batching: BatchingChoice, seconds: number) {
  const serving = new Serving().simple(batching, 100_000);
  serving.container({ credits: 2, serviceNs: (items) => 5 * MS + items * 0.25 * MS });
  const settledNs = 1.5e9;
  const latencies: number[] = [];
  let inTime = 0;
  let asked = 0;
  const ask = (): void => {
    const number = asked++;
    serving.engine.predict(
      { id: `${number}`, application: 'app', context: '', input: inputOf(number) },
      sink,
    );
  };
  const sink = {
    onAnswer: (_query: Query, answer: Answer) => {
      if (serving.clock.nowNs() >= settledNs) {
        latencies.push(answer.latencyNs);
        if (!answer.isDefault) inTime += 1;
      }
      // A client needs a moment between two queries, and one that was refused comes back when it is told to.
      const pauseNs = Math.max(0.2 * MS, answer.retryAfterNs ?? 0);
      serving.clock.schedule('clients', serving.clock.nowNs() + pauseNs, 'ask');
    },
    onRefusal: () => undefined,
  };
  serving.clock.attach('clients', { onEvent: ask });
  for (let at = 0; at < clients; at++) ask();
  serving.clock.run(settledNs + seconds * 1e9);
  latencies.sort((a, b) => a - b);
  return { perSecond: inTime / seconds, p99Ms: latencies[Math.floor(latencies.length * 0.99)] / MS };
}

describe('closed-loop clients at a model of 5 ms + 0.25 ms an item', () => {
  it.each([
    [64, { strategy: 'aimd' }],
    [64, { strategy: 'quantile' }],
    [256, { strategy: 'aimd' }],
    [256, { strategy: 'quantile' }],
    [256, { strategy: 'fixed', maxBatchSize: 128 }],
    [1024, { strategy: 'fixed', maxBatchSize: 128 }],
  ] as [number, BatchingChoice][])('%d of them, %j', (clients, batching) => {
    const { perSecond, p99Ms } = closedLoop(clients, batching, 2);
    // In two batches a round, 64 clients get 64 / 26 ms; a round that has fallen into three takes 31 ms.
    expect(perSecond).toBeGreaterThan(clients === 64 ? (0.9 * 64) / 0.026 : 3000);
    expect(p99Ms).toBeLessThanOrEqual(100.001);
  });
});

describe('queries that come whatever the answers are, at the same model', () => {
  it.each([1, 2, 4])('%d times what is feasible: goodput stays, and no answer is late', (times) => {
    const serving = new Serving().simple({ strategy: 'aimd' }, 100_000);
    serving.container({ credits: 2, serviceNs: (items) => 5 * MS + items * 0.25 * MS });
    const feasible = 128 / 0.037;
    const everyNs = 1e9 / (times * feasible);
    const asked = Math.round(2.5e9 / everyNs);
    for (let at = 0; at < asked; at++) {
      serving.clock.run(at * everyNs);
      serving.predict(at);
    }
    serving.run();
    const settled = serving.answers.filter(({ queryId }) => Number(queryId.slice(1)) * everyNs >= 1e9);
    const inTime = settled.filter(({ isDefault }) => !isDefault).length / 1.5;
    expect(inTime).toBeGreaterThanOrEqual(0.8 * feasible);
    const defaults = settled.filter(({ isDefault }) => isDefault).map(({ latencyNs }) => latencyNs);
    expect(Math.max(0, ...defaults)).toBeLessThanOrEqual(100.001 * MS);
    expect(serving.answers).toHaveLength(asked);
  });
});

it('serves again after a pause that made every expectation wrong', () => {
  const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 8 });
  let pause = true;
  serving.container({ serviceNs: () => (pause ? 300 * MS : MS) });
  for (let at = 0; at < 50; at++) {
    serving.predict(at);
    serving.clock.run(serving.clock.nowNs() + 10 * MS);
  }
  pause = false;
  serving.run();
  const before = serving.answers.length;
  for (let at = 0; at < 50; at++) {
    serving.predict(1000 + at);
    serving.clock.run(serving.clock.nowNs() + 5 * MS);
  }
  const after = serving.answers.slice(before);
  expect(after.filter((answer) => !answer.isDefault).length).toBeGreaterThanOrEqual(48);
});

it('does not give up on queries because of one pause', () => {
  const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 8 });
  let pause = 0;
  serving.container({ credits: 2, serviceNs: () => (pause-- === 1 ? 70 * MS : MS) });
  for (let at = 0; at < 60; at++) {
    if (at === 20) pause = 1;
    for (let together = 0; together < 4; together++) serving.predict(at * 4 + together);
    serving.clock.run(serving.clock.nowNs() + 2 * MS);
    if (at === 20) serving.clock.run(serving.clock.nowNs() + 80 * MS);
  }
  serving.run();
  // Those of the pause itself, and no others.
  expect(serving.answers.filter((answer) => answer.isDefault)).toHaveLength(4);
});

describe('what cannot be in time', () => {
  /** A model that serves 10 items in 10 ms, one batch at a time, and has been watched doing so. */
  function warm() {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 10 }, 50_000);
    const container = serving.container({ serviceNs: () => 10 * MS });
    for (let at = 0; at < 100; at++) serving.predict(at);
    for (let round = 0; round < 10; round++) {
      for (let at = 0; at < 10; at++) serving.predict(1000 + round * 10 + at);
      serving.run();
    }
    const answered = serving.answers.length;
    return { serving, container, fresh: () => serving.answers.slice(answered) };
  }

  it('is answered at once, with the time after which there is room; all that is taken in is in time', () => {
    const { serving, fresh } = warm();
    for (let at = 0; at < 200; at++) serving.predict(5000 + at);
    const refused = fresh();
    // Five batches are over within 50 ms.
    expect(refused).toHaveLength(150);
    for (const answer of refused) {
      expect(answer).toMatchObject({ output: 'default', defaultReason: 'overload', latencyNs: 0 });
      expect(answer.retryAfterNs).toBeCloseTo(10 * MS, -3);
    }
    serving.run();
    const rest = fresh().slice(150);
    expect(rest.filter((answer) => !answer.isDefault).length).toBeGreaterThanOrEqual(40);
  });

  it('is not an urgent query behind patient ones', () => {
    const { serving } = warm();
    for (let at = 0; at < 50; at++) serving.predict(5000 + at);
    const urgent = serving.predict(7000, { budgetNs: 25 * MS });
    const hopeless = serving.predict(7001, { budgetNs: 5 * MS });
    serving.run();
    expect(serving.answer(urgent).isDefault).toBe(false);
    expect(serving.answer(hopeless).isDefault).toBe(true);
  });

  it('still reaches an idle replica, which so gets rid of a wrong expectation', () => {
    const { serving, container } = warm();
    const before = container.frames.length;
    const hasty = serving.predict(9000, { budgetNs: 2 * MS });
    serving.run();
    expect(container.frames.length).toBe(before + 1);
    expect(serving.answer(hasty).defaultReason).toBe('deadline');
  });

  it('goes to a sibling that is free', () => {
    const { serving, container } = warm();
    const sibling = serving.container({ replica: 'sibling', serviceNs: () => 10 * MS });
    for (let at = 0; at < 100; at++) serving.predict(5000 + at);
    serving.run();
    expect(serving.answers.filter((answer) => answer.defaultReason === 'overload').length).toBeLessThan(60);
    expect(container.items).toBeGreaterThan(180);
    expect(sibling.items).toBeGreaterThan(40);
  });
});
