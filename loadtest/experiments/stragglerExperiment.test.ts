import { expect, it } from 'vitest';
import { KeyedDraw } from '../../selection/index.js';
import {
  FOREST_SERVICE,
  SEED,
  STRAGGLER_SETTINGS,
  runStragglers,
  serviceFactor,
} from './stragglerExperiment.js';

const draw = new KeyedDraw(SEED);
const truth = Uint8Array.from({ length: 200 }, (_, digit) => Math.floor(draw.of(`truth ${digit}`)() * 10));
/** Right four times in five, each model at other digits. */
const models = Array.from({ length: 8 }, (_, at) => ({
  name: `forest-${at}`,
  labels: truth.map((label, digit) => (draw.of(`${at} ${digit}`)() < 0.8 ? label : (label + 1 + at) % 10)),
}));
const settings = { ...STRAGGLER_SETTINGS, seconds: 8, warmUpSeconds: 0.5 };

it('answers in time with nearly all predictions where waiting for all takes far longer', () => {
  const mitigated = runStragglers(settings, models, truth);
  const waiting = runStragglers({ ...settings, objectiveMs: undefined }, models, truth);
  expect(waiting.missingShare).toBe(0);
  expect(waiting.p99Ms).toBeGreaterThan(22);
  expect(mitigated.p99Ms).toBeLessThanOrEqual(20.1);
  expect(mitigated.longestMs).toBeLessThanOrEqual(20.1);
  expect(mitigated.missingShare).toBeGreaterThan(0);
  expect(mitigated.missingShare).toBeLessThan(0.03);
  expect(mitigated.defaultShare).toBe(0);
  expect(Math.abs(mitigated.accuracy - waiting.accuracy)).toBeLessThan(0.01);
  const [one] = models;
  expect(mitigated.accuracy).toBeGreaterThan(runStragglers(settings, [one], truth).accuracy + 0.1);
});

it('repeats itself', () => {
  const short = { ...settings, seconds: 2 };
  expect(runStragglers(short, models, truth)).toEqual(runStragglers(short, models, truth));
});

it('draws service times around the usual one, with few stalls', () => {
  const factors = Array.from({ length: 20_000 }, (_, batch) =>
    serviceFactor(FOREST_SERVICE, draw.of(`batch ${batch}`)),
  ).sort((a, b) => a - b);
  expect(factors[10_000]).toBeCloseTo(1, 1);
  const stalls = factors.filter((factor) => factor > 2.5).length;
  expect(stalls).toBeGreaterThan(5);
  expect(stalls).toBeLessThan(50);
});
