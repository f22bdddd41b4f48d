import { linearAxis, pixel } from '../../simulator/charts/index.js';
import { BOTTOM, figure, grid, HEIGHT, LEFT, legendItem, RIGHT, TOP, WIDTH } from './lineChart.js';
import { numberText } from './markup.js';
import { escapeMarkup } from '../../simulator/text/index.js';

export interface BarChart {
  readonly title: string;
  readonly note?: string;
  readonly xLabel: string;
  readonly yLabel: string;
  /** Names of the groups, from left to right. */
  readonly groups: readonly string[];
  /** One bar a group. */
  readonly series: readonly {
    readonly name: string;
    readonly color: number;
    readonly values: readonly number[];
  }[];
}

/** Groups of bars beside each other, over a linear axis from zero; what comes near a hundred is per cent. */
export function barChart(chart: BarChart): string {
  const { groups, series } = chart;
  const floor = HEIGHT - BOTTOM;
  const highest = Math.max(1e-9, ...series.flatMap(({ values }) => values));
  const y = linearAxis(0, highest > 95 && highest <= 100 ? 100 : highest * 1.05, floor, TOP, 5);
  const width = (WIDTH - RIGHT - LEFT) / Math.max(1, groups.length);
  const bar = Math.min(40, (width * 0.8) / Math.max(1, series.length));
  const noTicks = { low: 0, high: 1, ticks: [], place: (value: number) => value };
  const parts = grid(noTicks, y, chart);
  const every = Math.ceil(groups.length / 14);
  const centre = (group: number) => LEFT + (group + 0.5) * width;
  groups.forEach((name, at) => {
    if (at % every !== 0) return;
    parts.push(
      `<text x="${pixel(centre(at))}" y="${floor + 17}" text-anchor="middle">${escapeMarkup(name)}</text>`,
    );
  });
  series.forEach(({ color, values }, index) => {
    values.forEach((value, at) => {
      if (value === 0) return;
      const left = centre(at) + (index - series.length / 2) * bar;
      const top = Math.min(y.place(value), floor - 1);
      parts.push(
        `<rect class="bar c${color % 6}" x="${pixel(left)}" y="${pixel(top)}" width="${pixel(bar * 0.92)}" height="${pixel(floor - top)}"/>`,
      );
    });
  });
  const data = series.map(({ name, color, values }) => ({
    name,
    color: color % 6,
    points: values.map((value, at) => [
      pixel(centre(at)),
      pixel(y.place(value)),
      groups[at],
      numberText(value),
    ]),
  }));
  return figure(
    chart,
    series.map(({ name, color }) => legendItem(name, color, 'area')),
    parts,
    data,
  );
}
