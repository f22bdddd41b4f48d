import { document, lineChart, type ChartSeries } from '../../../loadtest/page/index.js';
import { escapeMarkup } from '../../../simulator/text/index.js';
import type { Series } from '../../../services/telemetry/tests/prometheusServer.js';
import type { Board } from '../dashboards/index.js';
import { axisUnit } from './axisUnit.js';

type Panel = Board['rows'][number]['panels'][number];

/** Of the charts' palette. More lines would hide one another: those that get farthest are shown, and the panel says so. */
const COLOURS = 6;

/** Answers the query of a line. */
export type Query = (promql: string) => Promise<readonly Series[]>;

export interface DrawnBoard {
  /** A page of its own. */
  readonly html: string;
  /** Titles of panels on which there is nothing to see: no line of two points. */
  readonly bare: readonly string[];
}

export interface BoardView {
  readonly query: Query;
  /** The time of the left end, Unix, in seconds. */
  readonly from: number;
  /** Between points: where more is missing a line is broken. */
  readonly stepSeconds: number;
  /** What is chosen of the variables, in words; empty: all. */
  readonly chosen: string;
}

/** A dashboard as Grafana lays it out, with what Prometheus answers. */
export async function drawBoard(
  board: Board,
  { query, from, stepSeconds, chosen }: BoardView,
): Promise<DrawnBoard> {
  const bare: string[] = [];
  const rows: string[] = [];
  for (const { title, panels } of board.rows) {
    const charts: string[] = [];
    for (const panel of panels) {
      const lines = await panelLines(panel, query, from, stepSeconds);
      if (lines.every(({ points }) => points.length < 2)) bare.push(panel.title);
      charts.push(panelChart(panel, lines));
    }
    rows.push(`<h2>${escapeMarkup(title)}</h2><section class="charts">${charts.join('\n')}</section>`);
  }
  const about = `${board.description}. From left to right: seconds.${chosen === '' ? '' : ` ${chosen}.`}`;
  const html = document(board.title, `<p class="sub">${escapeMarkup(about)}</p>${rows.join('')}`);
  return { html: html.replace('</head>', `<style>${STYLE}</style></head>`), bare };
}

interface PanelLine {
  readonly name: string;
  readonly points: readonly (readonly [seconds: number, value: number | null])[];
}

async function panelLines(
  { lines }: Panel,
  query: Query,
  from: number,
  stepSeconds: number,
): Promise<readonly PanelLine[]> {
  const found: PanelLine[] = [];
  for (const { promql, legend } of lines) {
    for (const { metric, times, values } of await query(promql)) {
      const name = legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '').trim();
      const points: [number, number | null][] = [];
      values.forEach((value, at) => {
        if (at > 0 && times[at] - times[at - 1] > stepSeconds * 1.5) points.push([times[at] - from, null]);
        points.push([times[at] - from, Number.isFinite(value) ? value : null]);
      });
      if (points.some(([, value]) => value !== null)) found.push({ name, points });
    }
  }
  return found;
}

function panelChart({ title, unit, limit }: Panel, lines: readonly PanelLine[]): string {
  const highest = Math.max(limit ?? 0, ...lines.map(peak));
  const { name, factor } = axisUnit(unit, highest);
  // What is zero all the time is drawn, and not named: as in Grafana.
  const zeros = lines.filter((line) => peak(line) === 0);
  const others = lines.filter((line) => peak(line) > 0);
  const named = new Set([...others].sort((a, b) => peak(b) - peak(a)).slice(0, COLOURS));
  const shown = [...others.filter((line) => named.has(line)), ...zeros.slice(0, COLOURS)];
  const left = [
    ...(others.length > named.size ? [`${others.length - named.size} lower`] : []),
    ...(zeros.length > 0 ? [`${zeros.length} at 0`] : []),
  ];
  return lineChart({
    title: name === '' ? title : `${title}, ${name}`,
    ...(left.length === 0 ? {} : { note: `${named.size > 0 ? 'and ' : ''}${left.join(', ')}` }),
    xLabel: '',
    yLabel: '',
    yShare: name === '%' && factor === 1,
    series: shown.map((line, at): ChartSeries => ({
      name: named.has(line) ? line.name : '',
      color: at,
      points: line.points.map(([x, y]) => [x, y === null ? null : y * factor]),
    })),
    ...(limit === undefined ? {} : { references: [{ name: 'limit', y: limit * factor }] }),
  });
}

/** How far it gets from zero. */
function peak({ points }: PanelLine): number {
  return Math.max(...points.map(([, value]) => Math.abs(value ?? 0)));
}

/** Three panels beside one another, small: what is drawn is scaled down, its text less. Legends lie below, as Grafana's. */
const STYLE = `
main { max-width: none; padding: 16px 16px 20px; } .charts { grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 8px; margin: 0; }
h2 { font-size: 15px; margin: 12px 0 6px; } h1 { font-size: 19px; } .sub { margin: 0; font-size: 13px; }
.chart { padding: 7px 9px 5px 14px; display: flex; flex-direction: column; } .chart figcaption { font-size: 13px; margin-left: -4px; }
.chart svg { font-size: 17px; margin: 4px 0 -10px; order: 1; overflow: visible; } .chart .note { font-size: 11px; order: 3; margin: 0; }
.legend { font-size: 11px; order: 2; gap: 0 10px; margin: 0; } .legend i { width: 12px; margin-right: 4px; }
`;
