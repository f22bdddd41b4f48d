import { expect, it } from 'vitest';
import { AnswerWindows, renderBars, renderFigure } from './index.js';

it('draws every series and reference inside its frame, with escaped texts', () => {
  const svg = renderFigure({
    title: 'a < b & "c"',
    subtitle: 's',
    xLabel: 'time (s)',
    panels: [
      {
        yLabel: 'latency (ms)',
        series: [
          {
            name: 'one',
            color: 0,
            points: [
              [0, 1],
              [1, NaN],
              [2, 3],
              [3, 4],
            ],
          },
          { name: 'two', color: 1, dashed: true, points: [[0, 2]] },
        ],
        references: [{ y: 20, name: 'objective' }],
      },
    ],
  });
  expect(svg).toContain('a &#60; b &#38; &#34;c&#34;');
  expect(svg.match(/<path /g)).toHaveLength(3);
  for (const text of ['time (s)', 'latency (ms)', 'one', 'two', 'objective']) expect(svg).toContain(text);
  expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  const height = Number(/height="(\d+)"/.exec(svg)?.[1]);
  for (const [, y] of svg.matchAll(/y[12]?="([\d.]+)"/g)) expect(Number(y)).toBeLessThanOrEqual(height);
});

it('draws intervals as areas, values below zero, and a long legend in lines', () => {
  const names = Array.from({ length: 12 }, (_, at) => `a policy with a long name ${at}`);
  const svg = renderFigure({
    title: 't',
    subtitle: 's',
    xLabel: 'x',
    panelHeight: 250,
    panels: [
      {
        yLabel: 'regret',
        series: names.map((name, color) => ({
          name,
          color,
          points: [
            [0, 0],
            [1, -5],
          ],
          band: [
            [0, -1, 1],
            [1, -9, -2],
          ],
        })),
      },
    ],
  });
  expect(svg.match(/fill-opacity/g)).toHaveLength(12);
  const texts = [...svg.matchAll(/<text x="([\d.]+)" y="([\d.]+)">a policy/g)];
  expect(texts).toHaveLength(12);
  expect(new Set(texts.map(([, , y]) => y)).size).toBeGreaterThan(2);
  for (const [, x] of texts) expect(Number(x) + 27 * 6.2).toBeLessThan(860);
  const height = Number(/height="(\d+)"/.exec(svg)?.[1]);
  for (const [, y] of svg.matchAll(/[ML][\d.]+ (-?[\d.]+)/g)) {
    expect(Number(y)).toBeGreaterThan(0);
    expect(Number(y)).toBeLessThan(height);
  }
});

it('sums answers up by window', () => {
  const windows = new AnswerWindows(1e9);
  for (let at = 1; at <= 100; at++) windows.record(0.5e9, at * 1e6, at > 90);
  windows.record(2.1e9, 5e6, false);
  const [first, second, third] = windows.list();
  expect(first).toMatchObject({ atSeconds: 0.5, answers: 100, defaults: 10 });
  expect(first.p50Ms).toBeCloseTo(50, 0);
  expect(first.p99Ms).toBeCloseTo(99, 0);
  expect(second).toMatchObject({ answers: 0, p99Ms: NaN });
  expect(third.p99Ms).toBeCloseTo(5, 1);
});

it('draws bars as high as their values and as wide as their shares', () => {
  const bars = [
    { name: ['all'], value: 0.2, text: '20 %', color: 0 },
    { name: ['half', 'of it'], value: 0.1, text: '<10 %', color: 1, width: 0.5 },
  ];
  const figure = { title: 't', subtitle: 's', yLabel: 'error', groups: [{ name: 'g', bars }] };
  const svg = renderBars(figure);
  const drawn = [...svg.matchAll(/<rect x="[^"]*" y="[^"]*" width="([\d.]+)" height="([\d.]+)"/g)];
  const [[, wide, high], [, narrow, low]] = drawn.map(([, ...sizes]) => ['', ...sizes].map(Number));
  expect(narrow / wide).toBeCloseTo(0.5, 2);
  expect(low / high).toBeCloseTo(0.5, 2);
  expect(svg).toContain('&#60;10 %');
});
