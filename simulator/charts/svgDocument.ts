import { escapeMarkup } from '../text/index.js';
import { tickText, type Axis } from './axis.js';

/** Okabe and Ito's colours, told apart by colour-blind readers too. */
export const PALETTE = [
  '#0072b2',
  '#d55e00',
  '#009e73',
  '#cc79a7',
  '#56b4e9',
  '#e69f00',
  '#666666',
  '#000000',
];

export interface SvgHead {
  readonly title: string;
  readonly subtitle?: string;
  /** In pixels, as is all else. */
  readonly width: number;
  readonly height: number;
  /** Where title and subtitle begin. */
  readonly left: number;
}

/** An SVG document that needs no other file, readable on light and dark pages alike: it brings its own ground. */
export function svgDocument(
  { title, subtitle, width, height, left }: SvgHead,
  body: readonly string[],
): string {
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222">`,
    `<title>${escapeMarkup(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="${left}" y="28" font-size="17" font-weight="bold">${escapeMarkup(title)}</text>`,
    ...(subtitle === undefined
      ? []
      : [`<text x="${left}" y="48" fill="#555">${escapeMarkup(subtitle)}</text>`]),
    ...body,
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}

/** Where data is drawn. */
export interface PlotArea {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** A pale line across the area and a number beside it at each tick of y. */
export function yGrid(y: Axis, { left, right }: PlotArea): string[] {
  return y.ticks.flatMap((tick) => {
    const at = pixel(y.place(tick));
    return [
      `<line x1="${left}" y1="${at}" x2="${right}" y2="${at}" stroke="#e4e4e4"/>`,
      `<text x="${left - 8}" y="${at + 4}" text-anchor="end">${tickText(tick)}</text>`,
    ];
  });
}

/** The two lines that data stands on, and what y is. */
export function frame({ left, right, top, bottom }: PlotArea, yLabel: string): string[] {
  return [
    `<path d="M${left} ${top}V${bottom}H${right}" fill="none" stroke="#888"/>`,
    `<text transform="translate(20 ${(top + bottom) / 2}) rotate(-90)" text-anchor="middle">${escapeMarkup(yLabel)}</text>`,
  ];
}

/** Pixels with one decimal. */
export function pixel(value: number): number {
  return Math.round(value * 10) / 10;
}
