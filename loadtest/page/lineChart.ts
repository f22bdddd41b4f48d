import {
  fittingAxis,
  linearAxis,
  pixel,
  roundLogarithmicAxis,
  tickText,
  type Axis,
} from '../../simulator/charts/index.js';
import { numberText, percentText } from './markup.js';
import { escapeMarkup } from '../../simulator/text/index.js';

export interface ChartSeries {
  /** Without a name it is not in the legend. */
  readonly name: string;
  /** Of the palette. */
  readonly color: number;
  /** In order of x; a null breaks the line. */
  readonly points: readonly (readonly [x: number, y: number | null])[];
  readonly dashed?: boolean;
  /** A broad pale line, to lie under another. */
  readonly broad?: boolean;
}

export interface LineChart {
  readonly title: string;
  /** A sentence below the title. */
  readonly note?: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly series: readonly ChartSeries[];
  readonly xLogarithmic?: boolean;
  readonly yLogarithmic?: boolean;
  /** Shares of one, shown as percentages; the axis ends at one when they are stacked. */
  readonly yShare?: boolean;
  /** Series lie on top of each other. */
  readonly stacked?: boolean;
  /** Each value holds until the next. */
  readonly steps?: boolean;
  readonly references?: readonly { readonly name: string; readonly x?: number; readonly y?: number }[];
}

export const WIDTH = 620;
export const HEIGHT = 290;
export const LEFT = 62;
export const RIGHT = 14;
export const TOP = 12;
export const BOTTOM = 44;

/** A figure with its legend; readable without the script, which adds values under the pointer. */
export function lineChart(chart: LineChart): string {
  const layers = chart.stacked === true ? stack(chart.series) : chart.series;
  const [x, y] = axesOf(chart, layers);
  const body = [...grid(x, y, chart)];
  if (chart.stacked === true) body.push(...areas(layers, x, y));
  else body.push(...layers.map((series) => line(series, x, y, chart.steps === true)));
  body.push(...(chart.references ?? []).map((reference) => referenceLine(reference, x, y)));
  return figure(chart, legend(chart), body, dataOf(chart, layers, x, y));
}

/** The frame that all charts share. */
export function figure(
  chart: { readonly title: string; readonly note?: string },
  legendItems: readonly string[],
  body: readonly string[],
  data: unknown,
): string {
  const note = chart.note === undefined ? '' : `<p class="note">${escapeMarkup(chart.note)}</p>`;
  const items = legendItems.length === 0 ? '' : `<ul class="legend">${legendItems.join('')}</ul>`;
  // Nothing in it may end the element.
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  return `<figure class="card chart"><figcaption>${escapeMarkup(chart.title)}</figcaption>${note}${items}
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeMarkup(chart.title)}">
${body.join('\n')}
</svg>
<script type="application/json">${json}</script></figure>`;
}

export function legendItem(
  name: string,
  color: number,
  kind: 'line' | 'dashed' | 'area' | 'reference',
): string {
  return `<li><i class="${kind} c${color % 6}"></i>${escapeMarkup(name)}</li>`;
}

/** Ticks, labels and the frame. */
export function grid(
  x: Axis,
  y: Axis,
  labels: {
    readonly xLabel: string;
    readonly yLabel: string;
    readonly yShare?: boolean;
    readonly xLogarithmic?: boolean;
  },
): string[] {
  const floor = HEIGHT - BOTTOM;
  const parts: string[] = [];
  for (const tick of y.ticks) {
    const at = pixel(y.place(tick));
    const text = labels.yShare === true ? percentText(tick) : tickLabel(tick);
    parts.push(
      `<path class="grid" d="M${LEFT} ${at}H${WIDTH - RIGHT}"/>`,
      `<text x="${LEFT - 7}" y="${at + 4}" text-anchor="end">${text}</text>`,
    );
  }
  for (const tick of x.ticks) {
    const at = pixel(x.place(tick));
    if (labels.xLogarithmic === true) parts.push(`<path class="grid" d="M${at} ${TOP}V${floor}"/>`);
    parts.push(
      `<path class="frame" d="M${at} ${floor}v4"/>`,
      `<text x="${at}" y="${floor + 17}" text-anchor="middle">${tickLabel(tick)}</text>`,
    );
  }
  parts.push(
    `<path class="frame" d="M${LEFT} ${TOP}V${floor}H${WIDTH - RIGHT}"/>`,
    `<text class="label" x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 6}" text-anchor="middle">${escapeMarkup(labels.xLabel)}</text>`,
    `<text class="label" transform="translate(13 ${(TOP + floor) / 2}) rotate(-90)" text-anchor="middle">${escapeMarkup(labels.yLabel)}</text>`,
  );
  return parts;
}

function tickLabel(tick: number): string {
  return Math.abs(tick) >= 1e6 ? numberText(tick) : tickText(tick);
}

function axesOf(chart: LineChart, layers: readonly ChartSeries[]): [Axis, Axis] {
  const points = layers.flatMap((series) => series.points);
  const xs = [
    ...points.map(([value]) => value),
    ...(chart.references ?? []).flatMap(({ x: at }) => at ?? []),
  ];
  const ys = [
    ...points.flatMap(([, value]) => value ?? []),
    ...(chart.references ?? []).flatMap(({ y: at }) => at ?? []),
  ];
  const floor = HEIGHT - BOTTOM;
  const x =
    chart.xLogarithmic === true
      ? logarithmic(xs, LEFT, WIDTH - RIGHT)
      : fittingAxis(highest(xs), LEFT, WIDTH - RIGHT, 8);
  if (chart.yLogarithmic === true) return [x, logarithmic(ys, floor, TOP)];
  const top = chart.yShare === true ? Math.min(1, highest(ys)) : highest(ys);
  // A share of all needs no air above it.
  const high = chart.yShare === true && top > 0.9 ? 1 : top * 1.05;
  const low = ys.reduce((least, value) => Math.min(least, value), 0);
  return [x, linearAxis(low, high > 0 || low < 0 ? high : 1, floor, TOP, 5)];
}

/** Of what is above zero. */
function logarithmic(values: readonly number[], from: number, to: number): Axis {
  const positive = values.filter((value) => value > 0);
  const low =
    positive.length === 0 ? 0.1 : positive.reduce((least, value) => Math.min(least, value), Infinity);
  return roundLogarithmicAxis(low, Math.max(highest(values), low), from, to);
}

function highest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

function line(series: ChartSeries, x: Axis, y: Axis, steps: boolean): string {
  let path = '';
  let pen = 'M';
  for (const [px, py] of series.points) {
    if (py === null) {
      pen = 'M';
      continue;
    }
    const at = pixel(x.place(px));
    path += steps && pen === 'L' ? `H${at}V${pixel(y.place(py))}` : `${pen}${at} ${pixel(y.place(py))}`;
    pen = 'L';
  }
  // A point between two gaps has no length: round ends make it a dot.
  const look = `${series.dashed === true ? ' dashed' : ''}${series.broad === true ? ' broad' : ''}`;
  return `<path class="line${look} c${series.color % 6}" d="${path.replace(/M(\S+ \S+)(?=M|$)/g, 'M$1h0.1')}"/>`;
}

/** Each series on top of the ones before; a null counts as nothing. */
function stack(series: readonly ChartSeries[]): ChartSeries[] {
  const below: number[] = [];
  return series.map((one) => ({
    ...one,
    points: one.points.map(([x, y], at) => {
      below[at] = (below[at] ?? 0) + (y ?? 0);
      return [x, below[at]] as const;
    }),
  }));
}

function areas(layers: readonly ChartSeries[], x: Axis, y: Axis): string[] {
  return layers.map((layer, at) => {
    const top = layer.points.map(([px, py]) => `${pixel(x.place(px))} ${pixel(y.place(py ?? 0))}`);
    const floor = layers.at(at - 1);
    const under =
      at === 0 || floor === undefined ? layer.points.map(([px]) => [px, 0] as const) : floor.points;
    const back = [...under].reverse().map(([px, py]) => `${pixel(x.place(px))} ${pixel(y.place(py ?? 0))}`);
    return `<path class="area c${layer.color % 6}" d="M${[...top, ...back].join('L')}Z"/>`;
  });
}

function referenceLine(
  { x: atX, y: atY }: { readonly x?: number; readonly y?: number },
  x: Axis,
  y: Axis,
): string {
  if (atX !== undefined)
    return `<path class="reference" d="M${pixel(x.place(atX))} ${TOP}V${HEIGHT - BOTTOM}"/>`;
  return `<path class="reference" d="M${LEFT} ${pixel(y.place(atY ?? 0))}H${WIDTH - RIGHT}"/>`;
}

function legend(chart: LineChart): string[] {
  const kind = (series: ChartSeries) =>
    chart.stacked === true ? 'area' : series.dashed === true ? 'dashed' : 'line';
  return [
    ...chart.series
      .filter(({ name }) => name !== '')
      .map((series) => legendItem(series.name, series.color, kind(series))),
    ...(chart.references ?? []).map(({ name }) => legendItem(name, 0, 'reference')),
  ];
}

/** What the script shows: for each series its points as pixel, x and y text. */
function dataOf(chart: LineChart, layers: readonly ChartSeries[], x: Axis, y: Axis): unknown {
  return chart.series.map((series, at) => ({
    name: series.name,
    color: series.color % 6,
    points: series.points.flatMap(([px, py], index) => {
      if (py === null) return [];
      const height = layers[at].points[index][1] ?? 0;
      const text = chart.yShare === true ? percentText(py) : numberText(py);
      return [[pixel(x.place(px)), pixel(y.place(height)), `${numberText(px)}`, text]];
    }),
  }));
}
