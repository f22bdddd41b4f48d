import {
  frame,
  linearAxis,
  logarithmicAxis,
  PALETTE,
  pixel,
  svgDocument,
  tickText,
  yGrid,
  type Axis,
} from '../../simulator/charts/index.js';
import { escapeMarkup } from '../../simulator/text/index.js';

export interface Series {
  readonly name: string;
  /** In order of x; a NaN breaks the line. */
  readonly points: readonly (readonly [x: number, y: number])[];
  /** An index into the palette; series of one meaning share it across panels. */
  readonly color: number;
  readonly dashed?: boolean;
  /** An interval around the line, drawn as a pale area. In order of x. */
  readonly band?: readonly (readonly [x: number, low: number, high: number])[];
}

/** A horizontal line that the data is held against. */
export interface Reference {
  readonly y: number;
  readonly name: string;
}

export interface Panel {
  /** What is drawn, with its unit. */
  readonly yLabel: string;
  readonly series: readonly Series[];
  readonly references?: readonly Reference[];
  /** Powers of ten, for values that differ by more than one picture shows; from zero and linear otherwise. */
  readonly logarithmic?: boolean;
}

/** Panels above each other over one x axis. */
export interface Figure {
  readonly title: string;
  readonly subtitle: string;
  readonly xLabel: string;
  readonly panels: readonly Panel[];
  /** Height of each panel in pixels; 190 unless given. */
  readonly panelHeight?: number;
}

const REFERENCE_COLOR = '#b00020';

const WIDTH = 860;
const LEFT = 96;
const RIGHT = 24;
const TOP = 66;
const PANEL_HEIGHT = 190;
/** Room above each panel for its legend. */
const LEGEND_HEIGHT = 34;
const LEGEND_LINE = 17;
const BOTTOM = 54;

/** An SVG document, readable on light and dark pages alike: it brings its own ground. */
export function renderFigure(figure: Figure): string {
  const panelHeight = figure.panelHeight ?? PANEL_HEIGHT;
  const tops: number[] = [];
  let floor = TOP;
  for (const panel of figure.panels) {
    tops.push(floor + LEGEND_HEIGHT + (legendLines(panel).length - 1) * LEGEND_LINE);
    floor = tops[tops.length - 1] + panelHeight;
  }
  const height = floor + BOTTOM;
  const xs = figure.panels.flatMap((panel) =>
    panel.series.flatMap((series) => series.points.map(([x]) => x)),
  );
  const x = linearAxis(Math.min(0, ...extent(xs)), Math.max(...extent(xs)), LEFT, WIDTH - RIGHT, 10);
  const parts: string[] = [];
  figure.panels.forEach((panel, at) => {
    parts.push(...renderPanel(panel, x, tops[at], panelHeight));
  });
  for (const tick of x.ticks) {
    parts.push(
      `<text x="${pixel(x.place(tick))}" y="${floor + 18}" text-anchor="middle">${tickText(tick)}</text>`,
    );
  }
  parts.push(
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${floor + 40}" text-anchor="middle">${escapeMarkup(figure.xLabel)}</text>`,
  );
  const { title, subtitle } = figure;
  return svgDocument({ title, subtitle, width: WIDTH, height, left: LEFT }, parts);
}

function renderPanel(panel: Panel, x: Axis, top: number, height: number): string[] {
  const references = panel.references ?? [];
  const ys = panel.series.flatMap((series) => [
    ...series.points.map(([, value]) => value),
    ...(series.band ?? []).flatMap(([, low, high]) => [low, high]),
  ]);
  const bottom = top + height;
  const y = yAxis(panel, [...ys, ...references.map((reference) => reference.y)], bottom, top);
  const area = { left: LEFT, right: WIDTH - RIGHT, top, bottom };
  const parts = yGrid(y, area);
  for (const tick of x.ticks) {
    const at = pixel(x.place(tick));
    parts.push(`<line x1="${at}" y1="${bottom}" x2="${at}" y2="${bottom + 4}" stroke="#888"/>`);
  }
  parts.push(...frame(area, panel.yLabel));
  for (const { y: value } of references) {
    const at = pixel(y.place(value));
    parts.push(
      `<line x1="${LEFT}" y1="${at}" x2="${WIDTH - RIGHT}" y2="${at}" stroke="${REFERENCE_COLOR}" stroke-dasharray="2 3"/>`,
    );
  }
  for (const series of panel.series) {
    if (series.band === undefined || series.band.length === 0) continue;
    parts.push(`<path d="${areaOf(series.band, x, y)}" fill="${colorOf(series)}" fill-opacity="0.16"/>`);
  }
  for (const series of panel.series) {
    parts.push(
      `<path d="${pathOf(series, x, y)}" fill="none" stroke="${colorOf(series)}" stroke-width="1.6" stroke-linejoin="round"${series.dashed === true ? ' stroke-dasharray="6 4"' : ''}/>`,
    );
  }
  return [...parts, ...legend(panel, top - 12)];
}

function yAxis(panel: Panel, values: readonly number[], bottom: number, top: number): Axis {
  const [least, highest] = extent(values);
  if (panel.logarithmic === true) {
    const [lowest] = extent(values.filter((value) => value > 0));
    return logarithmicAxis(lowest, highest * 1.04, bottom, top);
  }
  // A little air, so that no line runs along the frame.
  return linearAxis(Math.min(0, least * 1.04), highest * 1.04, bottom, top, 5);
}

interface LegendEntry {
  readonly name: string;
  readonly color: string;
  readonly dash: string;
  readonly left: number;
}

/** Above the panel, in as many lines as it takes; nothing is drawn over the data. */
function legend(panel: Panel, y: number): string[] {
  const lines = legendLines(panel);
  return lines.flatMap((line, at) => {
    const baseline = y - (lines.length - 1 - at) * LEGEND_LINE;
    return line.flatMap(({ name, color, dash, left }) => [
      `<line x1="${left}" y1="${baseline - 4}" x2="${left + 22}" y2="${baseline - 4}" stroke="${color}" stroke-width="2"${dash === '' ? '' : ` stroke-dasharray="${dash}"`}/>`,
      `<text x="${left + 28}" y="${baseline}">${escapeMarkup(name)}</text>`,
    ]);
  });
}

function legendLines(panel: Panel): LegendEntry[][] {
  const lines: LegendEntry[][] = [[]];
  let left = LEFT;
  const add = (name: string, color: string, dash: string): void => {
    // SVG has no layout: 6.2 px is a wide guess of a 12 px character.
    const width = 28 + name.length * 6.2 + 22;
    if (left > LEFT && left + width - 22 > WIDTH - RIGHT) {
      lines.push([]);
      left = LEFT;
    }
    lines[lines.length - 1].push({ name, color, dash, left });
    left += width;
  };
  for (const series of panel.series) add(series.name, colorOf(series), series.dashed === true ? '6 4' : '');
  for (const reference of panel.references ?? []) add(reference.name, REFERENCE_COLOR, '2 3');
  return lines;
}

function pathOf(series: Series, x: Axis, y: Axis): string {
  let path = '';
  let pen = 'M';
  for (const [px, py] of series.points) {
    if (!Number.isFinite(py)) {
      pen = 'M';
      continue;
    }
    path += `${pen}${pixel(x.place(px))} ${pixel(y.place(py))}`;
    pen = 'L';
  }
  return path;
}

function areaOf(band: NonNullable<Series['band']>, x: Axis, y: Axis): string {
  const upper = band.map(([px, , high]) => `${pixel(x.place(px))} ${pixel(y.place(high))}`);
  const lower = band.map(([px, low]) => `${pixel(x.place(px))} ${pixel(y.place(low))}`).reverse();
  return `M${[...upper, ...lower].join('L')}Z`;
}

function colorOf(series: Series): string {
  return PALETTE[series.color % PALETTE.length];
}

function extent(values: readonly number[]): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low > high ? [0, 1] : [low, high];
}
