import type { DurationSummary } from '../measure/index.js';
import type { RunResult } from '../result/index.js';
import { msText, numberText, percentText } from './markup.js';

/** A run, and what to call it beside others. */
export interface NamedRun {
  readonly name: string;
  readonly result: RunResult;
}

/** One figure of both runs. */
export interface ComparedFigure {
  readonly name: string;
  readonly values: readonly string[];
  /** Of the second to the first; null: there is none. */
  readonly ratio: number | null;
}

interface Figure {
  readonly name: string;
  readonly of: (result: RunResult) => number | null | undefined;
  readonly text: (value: number | null | undefined) => string;
}

const QUANTILES: readonly (readonly [name: string, field: keyof DurationSummary])[] = [
  ['mean', 'meanMs'],
  ['p50', 'p50Ms'],
  ['p90', 'p90Ms'],
  ['p99', 'p99Ms'],
  ['p99.9', 'p999Ms'],
  ['longest', 'maxMs'],
];

const plain = (value: number | null | undefined): string => numberText(value ?? NaN);
const share = (value: number | null | undefined): string => percentText(value ?? NaN);

const FIGURES: readonly Figure[] = [
  { name: 'queries', of: ({ arrivals }) => arrivals, text: plain },
  { name: 'queries a second', of: ({ offeredPerSecond }) => offeredPerSecond, text: plain },
  { name: 'predictions in time a second', of: ({ goodputPerSecond }) => goodputPerSecond, text: plain },
  ...QUANTILES.map(([name, field]) => ({
    name: `latency, ${name}`,
    of: ({ latency }: RunResult) => latency?.[field],
    text: msText,
  })),
  { name: 'answered by default', of: (run) => part(run.defaults, run.answers), text: share },
  { name: 'refused or lost', of: (run) => part(total(run.refusals), run.arrivals), text: share },
  { name: 'answered from the cache', of: (run) => part(run.cachedAnswers, run.answers), text: share },
  { name: 'right', of: ({ accuracy }) => accuracy?.share, text: share },
];

/** Figures of runs in a row; of models those that every run has. */
export function comparedFigures(runs: readonly NamedRun[]): ComparedFigure[] {
  const figures = [...FIGURES, ...commonModels(runs).flatMap(modelFigures)];
  return figures.flatMap(({ name, of, text }) => {
    const values = runs.map(({ result }) => of(result));
    if (values.every((value) => value === null || value === undefined)) return [];
    const [first, second] = values;
    const ratio = first && second !== null && second !== undefined ? second / first : null;
    return [{ name, values: values.map(text), ratio: runs.length === 2 ? ratio : null }];
  });
}

/** As a table of plain text. */
export function comparisonText(runs: readonly NamedRun[]): string {
  const rows = [
    ['', ...runs.map(({ name }) => name), runs.length === 2 ? 'ratio' : ''],
    ['', ...runs.map(({ result }) => kindText(result)), ''],
    ...comparedFigures(runs).map(({ name, values, ratio }) => [name, ...values, ratioText(ratio)]),
  ];
  const widths = rows[0].map((_, at) => Math.max(...rows.map((row) => row[at].length)));
  const line = (row: readonly string[]): string =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join('  ');
  return `${rows.map((row) => line(row).trimEnd()).join('\n')}\n`;
}

export function ratioText(ratio: number | null): string {
  return ratio === null ? '' : ratio.toFixed(2);
}

/** What a run is, and whose time its figures are. */
export function kindText({ kind, times }: Pick<RunResult, 'kind' | 'times'>): string {
  if (kind === 'loadtest') return 'load test';
  return times === 'host' ? "replay, with the host's times" : 'replay, simulated times';
}

function commonModels(runs: readonly NamedRun[]): string[] {
  const [first, ...others] = runs.map(({ result }) =>
    result.models.filter(({ batches }) => batches > 0).map(({ name }) => name),
  );
  return (first ?? []).filter((name) => others.every((names) => names.includes(name)));
}

function modelFigures(model: string): Figure[] {
  const found = ({ models }: RunResult) => models.find(({ name }) => name === model);
  return [
    { name: `${model}: items in a batch`, of: (run) => found(run)?.meanBatchSize, text: plain },
    { name: `${model}: service, p50`, of: (run) => found(run)?.service?.p50Ms, text: msText },
    { name: `${model}: queueing, p99`, of: (run) => found(run)?.queueing?.p99Ms, text: msText },
  ];
}

function part(count: number, of: number): number | null {
  return of === 0 ? null : count / of;
}

function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
