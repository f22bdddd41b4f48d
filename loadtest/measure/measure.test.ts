import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Durations, SizeBins, Timeline, windowWidthNs, type TimelineImage } from './index.js';

it('counts every size in exactly one bin, and the bins leave no gap', () => {
  const bins = new SizeBins();
  for (let size = 1; size <= 5000; size++) bins.record(size);
  const list = bins.list();
  expect(list.slice(0, 8).map(({ from, to }) => [from, to])).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 4],
    [5, 6],
    [7, 8],
    [9, 12],
    [13, 16],
  ]);
  list.forEach(({ from, to, count }, at) => {
    expect(from).toBe(at === 0 ? 1 : list[at - 1].to + 1);
    expect(count).toBe(Math.min(to, 5000) - from + 1);
  });
});

it('keeps all counts however long a run is, in a bounded number of windows', () => {
  const times = fc.array(fc.double({ min: 0, max: 1e13, noNaN: true }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(times, (unsorted) => {
      const timeline = new Timeline(1e6);
      for (const [at, time] of unsorted.sort((a, b) => a - b).entries()) {
        const window = timeline.at(time);
        window.arrivals += 1;
        window.answer(1e6 * (at + 1), at % 3 === 0 ? 'deadline' : undefined);
        window.shares = { app: { model: at } };
      }
      const { windows, widthNs } = timeline;
      expect(windows.length).toBeLessThanOrEqual(240);
      expect(windows.length).toBe(Math.floor((unsorted.at(-1) ?? 0) / widthNs) + 1);
      const sum = (of: (window: (typeof windows)[number]) => number) =>
        windows.reduce((all, window) => all + of(window), 0);
      expect(sum((window) => window.arrivals)).toBe(unsorted.length);
      expect(sum((window) => window.latencies?.count ?? 0)).toBe(unsorted.length);
      expect(sum((window) => window.defaults.deadline ?? 0)).toBe(Math.ceil(unsorted.length / 3));
      expect(windows.at(-1)?.shares?.app.model).toBe(unsorted.length - 1);
    }),
    { seed: 11, numRuns: 100 },
  );
});

it('makes about a hundred windows of round widths', () => {
  expect([1e9, 10e9, 60e9, 3600e9].map(windowWidthNs)).toEqual([1e7, 1e8, 5e8, 5e10]);
});

it('gives quantiles that are exact to three digits and a distribution that rises to one', () => {
  const durations = new Durations();
  for (let at = 1; at <= 10_000; at++) durations.record(at * 1234.5);
  const summary = durations.summary();
  expect(summary?.p50Ms).toBeCloseTo(6.1725, 1);
  expect(Math.abs((summary?.p99Ms ?? 0) / (9900 * 1234.5e-6) - 1)).toBeLessThan(1e-3);
  expect(summary?.maxMs).toBe(12.345);
  expect(summary?.meanMs).toBeCloseTo(6.1731, 3);
  const steps = durations.distribution();
  expect(steps.at(-1)?.[1]).toBe(1);
  steps.forEach(([ms, share], at) => {
    if (at === 0) return;
    expect(ms).toBeGreaterThan(steps[at - 1][0]);
    expect(share).toBeGreaterThan(steps[at - 1][1]);
  });
  expect(new Durations().summary()).toBeNull();
});

it('durations and windows of several processes make those of one', () => {
  const whole = new Timeline(1e9);
  const parts = [new Timeline(1e9), new Timeline(1e9)];
  for (let ms = 1; ms <= 400_000; ms += 997) {
    for (const timeline of [whole, parts[ms % 2]]) timeline.at(ms * 1e6).answer(ms * 1000, undefined);
  }
  const merged = new Timeline(1e9);
  for (const part of parts) merged.add(JSON.parse(JSON.stringify(part.image())) as TimelineImage);
  expect(merged.widthNs).toBe(whole.widthNs);
  const figures = ({ windows }: Timeline) =>
    windows.map(({ answers, latencies }) => [answers, latencies?.quantileMs(50), latencies?.quantileMs(99)]);
  expect(figures(merged)).toEqual(figures(whole));
});
