import { expect, it } from 'vitest';
import { LoadError } from './loadError.js';
import { endsByItself, openTrace } from './index.js';

const SEED = 20170327;
const COUNT = 60_000;

function timesOf(spec: string, seed = SEED, scale = 1, count = COUNT): number[] {
  const trace = openTrace({ spec, scale, seed });
  return Array.from({ length: count }, () => (trace.next()?.atNs ?? NaN) / 1e9);
}

function gapsOf(times: readonly number[]): { mean: number; variation: number } {
  const gaps = times.map((time, at) => time - (at === 0 ? 0 : times[at - 1]));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
  return { mean, variation: Math.sqrt(variance) / mean };
}

/** Variance over mean of the counts in windows. */
function dispersionOf(times: readonly number[], windowSeconds: number): number {
  const counts = new Array<number>(Math.floor((times.at(-1) ?? 0) / windowSeconds)).fill(0);
  for (const time of times) {
    const at = Math.floor(time / windowSeconds);
    if (at < counts.length) counts[at] += 1;
  }
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / counts.length / mean;
}

it.each([
  ['uniform:50', 50, 0, 0.001],
  ['poisson:1000', 1000, 1, 0.02],
  ['poisson:0.5', 0.5, 1, 0.02],
  ['bursty:200,0.5', 200, 0.5, 0.02],
  ['bursty:200', 200, 4, 0.08],
  ['lognormal:100,1', 100, Math.sqrt(Math.E - 1), 0.08],
])('%s keeps its rate and its variation (seed 20170327)', (spec, rate, expected, tolerance) => {
  const { mean, variation } = gapsOf(timesOf(spec));
  // Bursts leave the mean of so many gaps less certain.
  expect(Math.abs(mean * rate - 1)).toBeLessThan(expected > 1 ? 0.05 : 0.02);
  expect(Math.abs(variation - expected)).toBeLessThan(Math.max(1e-6, tolerance * Math.max(1, expected)));
});

it('switches between two rates', () => {
  const times = timesOf('switching:20,180,2');
  expect(Math.abs(gapsOf(times).mean * 100 - 1)).toBeLessThan(0.1);
  // Doubly stochastic: 1 + 2 * variance of the rate * stay time / mean, over windows long against the stay.
  const poisson = dispersionOf(timesOf('poisson:100'), 20);
  expect(poisson).toBeLessThan(1.5);
  expect(dispersionOf(times, 20)).toBeGreaterThan(40);
});

it('gives the same list for the same seed, another for another, and scales it', () => {
  const list = timesOf('bursty:10', 7, 1, 500);
  expect(timesOf('bursty:10', 7, 1, 500)).toEqual(list);
  expect(timesOf('bursty:10', 8, 1, 500)).not.toEqual(list);
  const faster = timesOf('bursty:10', 7, 4, 500);
  faster.forEach((time, at) => expect(time * 4).toBeCloseTo(list[at], 6));
});

it.each([
  ['poisson:', /RATE of poisson:RATE must be a number above 0, at most 10000000, not ''/],
  ['poisson:-3', /not '-3'/],
  ['poisson:1e9', /not '1e9'/],
  ['bursty:10,', /CV of bursty:RATE\[,CV\] must be a number/],
  ['switching:10', /RATE2 of switching:RATE1,RATE2\[,SECONDS\]/],
  ['uniform:1,2', /'uniform:1,2' has more than uniform:RATE takes/],
  ['pareto:3', /'pareto:3' is none of poisson:RATE, .*FILE/],
  ['trace.txt', /trace\.txt: cannot be read \(ENOENT/],
  ['/nowhere/trace.csv', /\/nowhere\/trace.csv: cannot be read/],
])('refuses %s', (spec, message) => {
  expect(() => openTrace({ spec, scale: 1, seed: 1 })).toThrow(LoadError);
  expect(() => openTrace({ spec, scale: 1, seed: 1 })).toThrow(message);
});

it('knows which traces end', () => {
  expect([endsByItself('poisson:3'), endsByItself('some/poisson:3.csv'), endsByItself('a.csv')]).toEqual([
    false,
    true,
    true,
  ]);
});
