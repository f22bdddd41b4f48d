import { frame, linearAxis, PALETTE, pixel, svgDocument, yGrid } from '../../simulator/charts/index.js';
import { escapeMarkup } from '../../simulator/text/index.js';

export interface Bar {
  /** Under the bar, in lines. */
  readonly name: readonly string[];
  readonly value: number;
  /** Above the bar. */
  readonly text: string;
  /** An index into the palette. */
  readonly color: number;
  /** Share of the full width, 1 unless given: how many examples the bar stands for. */
  readonly width?: number;
}

export interface BarGroup {
  readonly name: string;
  readonly bars: readonly Bar[];
}

export interface BarFigure {
  readonly title: string;
  readonly subtitle: string;
  readonly yLabel: string;
  readonly groups: readonly BarGroup[];
}

const WIDTH = 860;
const HEIGHT = 420;
const LEFT = 96;
const RIGHT = 24;
const TOP = 84;
/** Room for two lines under each bar and one under each group. */
const BOTTOM = 92;
/** Between bars, and between groups beside that. */
const GAP = 8;
const GROUP_GAP = 26;
const NARROWEST = 3;

/** Grouped bars from zero, as an SVG document with a ground of its own. */
export function renderBars(figure: BarFigure): string {
  const bars = figure.groups.flatMap((group) => group.bars);
  const floor = HEIGHT - BOTTOM;
  const y = linearAxis(0, Math.max(...bars.map(({ value }) => value)) * 1.04, floor, TOP, 5);
  const area = { left: LEFT, right: WIDTH - RIGHT, top: TOP, bottom: floor };
  const parts = yGrid(y, area);
  const free = WIDTH - LEFT - RIGHT - bars.length * GAP - figure.groups.length * GROUP_GAP;
  const full = free / bars.length;
  let left = LEFT + GROUP_GAP / 2;
  for (const group of figure.groups) {
    const from = left;
    for (const bar of group.bars) {
      const width = Math.max(NARROWEST, full * (bar.width ?? 1));
      const middle = pixel(left + full / 2);
      const top = pixel(y.place(bar.value));
      parts.push(
        `<rect x="${pixel(left + (full - width) / 2)}" y="${top}" width="${pixel(width)}" height="${pixel(floor - top)}" fill="${PALETTE[bar.color % PALETTE.length]}"/>`,
        `<text x="${middle}" y="${top - 6}" text-anchor="middle">${escapeMarkup(bar.text)}</text>`,
        ...bar.name.map(
          (line, at) =>
            `<text x="${middle}" y="${floor + 18 + 15 * at}" text-anchor="middle" font-size="11">${escapeMarkup(line)}</text>`,
        ),
      );
      left += full + GAP;
    }
    parts.push(
      `<line x1="${pixel(from)}" y1="${floor + 42}" x2="${pixel(left - GAP)}" y2="${floor + 42}" stroke="#888"/>`,
      `<text x="${pixel((from + left - GAP) / 2)}" y="${floor + 60}" text-anchor="middle">${escapeMarkup(group.name)}</text>`,
    );
    left += GROUP_GAP;
  }
  const { title, subtitle, yLabel } = figure;
  const head = { title, subtitle, width: WIDTH, height: HEIGHT, left: LEFT };
  return svgDocument(head, [...parts, ...frame(area, yLabel)]);
}
