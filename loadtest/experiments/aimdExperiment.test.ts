import { expect, it } from 'vitest';
import { runStrategy } from './aimdExperiment.js';
import { SYNTHETIC_PROFILE, SYNTHETIC_SETTINGS, syntheticModel } from './syntheticModel.js';

const SETTINGS = {
  ...SYNTHETIC_SETTINGS,
  durationSeconds: 3,
  stages: [
    { fromSeconds: 0, queriesPerSecond: 4000 },
    { fromSeconds: 1, queriesPerSecond: 11_000 },
    { fromSeconds: 2, queriesPerSecond: 24_000 },
  ],
};

const MODEL = syntheticModel(SYNTHETIC_PROFILE, SETTINGS.seed);

it('serves at least five times as much in time as no batching can, and nothing late', () => {
  const adaptive = runStrategy(SETTINGS, MODEL, { strategy: 'aimd' });
  const unbatched = runStrategy(SETTINGS, MODEL, { strategy: 'fixed', maxBatchSize: 1 });
  const ceilingPerSecond = 1000 / (SYNTHETIC_PROFILE.fixedMs + SYNTHETIC_PROFILE.itemMs);
  for (const [at, stage] of adaptive.stages.entries()) {
    expect(unbatched.stages[at].modelItemsPerSecond).toBeLessThan(ceilingPerSecond * 1.05);
    expect(stage.answersInTimePerSecond).toBeGreaterThan(5 * ceilingPerSecond);
    expect(stage.p99Ms).toBeLessThanOrEqual(20.02);
  }
  const [light, heavy, beyond] = adaptive.stages;
  expect(light.defaultShare).toBe(0);
  expect(heavy.defaultShare).toBeLessThan(0.005);
  expect(heavy.p99Ms).toBeLessThan(20);
  // Twice what it can do: goodput stays where it was, instead of turning into late work.
  expect(beyond.answersInTimePerSecond).toBeGreaterThan(0.95 * heavy.answersInTimePerSecond);
  expect(adaptive.longestLatencyMs).toBeLessThanOrEqual(20.000001);
});

it('gives the same run twice', () => {
  const short = { ...SETTINGS, durationSeconds: 0.6, stages: [SETTINGS.stages[0]], adaptationSeconds: 0.1 };
  const run = () => JSON.stringify(runStrategy(short, MODEL, { strategy: 'aimd' }));
  expect(run()).toBe(run());
});
