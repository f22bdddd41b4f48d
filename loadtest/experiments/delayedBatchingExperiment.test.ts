import { expect, it } from 'vitest';
import { DELAYED_MODELS, QUERIES_PER_SECOND, gainOfTwoMs, runDelays } from './delayedBatchingExperiment.js';

const [high, low] = DELAYED_MODELS.map(({ profile }) => runDelays(profile, [0, 1, 2], QUERIES_PER_SECOND, 2));

it('makes batches that a model of high fixed cost does far faster, and loses no query', () => {
  expect(high[2].gain).toBeGreaterThan(2.5);
  expect(high[1].gain).toBeGreaterThan(1.5);
  for (const one of high) expect(one.inTimePerSecond).toBeGreaterThan(0.9 * QUERIES_PER_SECOND);
  expect(high[2].busyShare).toBeLessThan(0.5 * high[0].busyShare);
});

it('brings a model of low fixed cost next to nothing', () => {
  expect(low[2].gain).toBeLessThan(1.2);
});

it('costs no more latency than the delay', () => {
  for (const [none, , two] of [high, low]) expect(two.p99Ms).toBeLessThan(none.p99Ms + 2 + 1.5);
});

it('gains less where batches take longer than the delay', () => {
  expect(gainOfTwoMs(4, 4).gain).toBeLessThan(1.5);
});
