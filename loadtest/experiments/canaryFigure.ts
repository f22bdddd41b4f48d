import { renderFigure, type Series } from '../report/index.js';
import type { CanaryRow, Phase } from './canaryExperiment.js';

/** Beyond this nothing more is to be seen. */
const SHOWN_QUERIES = 6000;

/** How many candidates were withdrawn, and promoted, after how many queries. */
export function canaryFigure({ seeds }: { readonly seeds: number }, rows: readonly CanaryRow[]): string {
  const panel = (phase: Phase, yLabel: string, names: RegExp) => ({
    yLabel,
    series: rows
      .filter(({ name }) => names.test(name))
      .map(({ name, trials }, at): Series => ({
        name,
        color: at,
        points: steps(trials.filter((trial) => trial.phase === phase).map(({ queries }) => queries)),
      })),
    references: [phase === 'withdrawn' ? { y: 95, name: '95' } : { y: 90, name: '90' }],
  });
  return renderFigure({
    title: 'Candidates withdrawn and promoted',
    subtitle: `Of ${seeds} seeds each, by the policy canary with its defaults; every query is judged`,
    xLabel: 'queries',
    panelHeight: 270,
    panels: [
      panel(
        'withdrawn',
        'candidates withdrawn',
        /^(2 points worse, differing on \d %|2 points worse than 10 %, independent|5 points.*|twice.*|fails 5.*)$/,
      ),
      panel(
        'promoted',
        'candidates promoted',
        /^(equal.*(same answers|\d %|independent)|2 points better.*)$/,
      ),
    ],
  });
}

function steps(queries: readonly number[]): [number, number][] {
  const sorted = queries.filter((at) => at <= SHOWN_QUERIES).sort((one, other) => one - other);
  const points: [number, number][] = [[0, 0]];
  for (const [count, at] of sorted.entries()) points.push([at, count], [at, count + 1]);
  return [...points, [SHOWN_QUERIES, sorted.length]];
}
