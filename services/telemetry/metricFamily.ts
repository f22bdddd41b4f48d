import type { MetricDescription, MetricTable } from '../metrics/index.js';
import type { HistogramTally } from './histogramTally.js';

declare const LABELS: unique symbol;

/** Labels as the text format has them: `a="1",b="2"`. The type knows their names, in no order. */
export type LabelText<L extends string> = string & { readonly [LABELS]: (names: L) => L };

/** Labels of a metric that has none. */
export const NO_LABELS = '' as LabelText<never>;

export interface ValueWriter<L extends string> {
  value(labels: LabelText<L>, value: number): void;
}

export interface HistogramWriter<L extends string> {
  histogram(labels: LabelText<L>, tally: HistogramTally): void;
}

/** Where a family writes its samples. */
export interface SampleWriter {
  value(labels: string, value: number): void;
  histogram(labels: string, tally: HistogramTally): void;
}

/** Takes what the metric has, under exactly its labels. */
export type WriterOf<M extends MetricDescription> = M['type'] extends 'histogram'
  ? HistogramWriter<M['labels'][number]>
  : ValueWriter<M['labels'][number]>;

/** A metric with all of its series. Read when somebody scrapes; nothing is formatted before. */
export interface MetricFamily extends MetricDescription {
  readonly name: string;
  write(to: SampleWriter): void;
}

/** How each metric of a table is read. */
export type MetricReaders<T extends MetricTable> = {
  readonly [N in keyof T]: (to: WriterOf<T[N]>) => void;
};

/** Metrics of the catalogue with their values: none of the table can be forgotten, and none written that it lacks. */
export function familiesOf<T extends MetricTable>(
  table: T,
  readers: MetricReaders<T>,
): readonly MetricFamily[] {
  return Object.entries(table).map(([name, description]) => {
    // What takes every sample takes those of one metric.
    const write = readers[name] as (to: SampleWriter) => void;
    return { name, ...description, write };
  });
}

/** Made once for each series. */
export function labelText<const T extends Readonly<Record<string, string>>>(
  labels: T,
): LabelText<keyof T & string> {
  const text = Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');
  return text as LabelText<keyof T & string>;
}

/** Further labels of one series, behind those that it has. */
export function withLabels<L extends string, const T extends Readonly<Record<string, string>>>(
  labels: LabelText<L>,
  more: T,
): LabelText<L | (keyof T & string)> {
  return `${labels},${labelText(more)}` as LabelText<L | (keyof T & string)>;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
