import type { HistogramTally } from './histogramTally.js';

export type MetricType = 'counter' | 'gauge' | 'histogram';
export type MetricUnit = 'seconds' | 'bytes' | 'ratio' | '';

/** Where a family writes its samples. `labels` is what `labelText` makes, '' for none. */
export interface SampleWriter {
  value(labels: string, value: number): void;
  histogram(labels: string, tally: HistogramTally): void;
}

/** A metric with all of its series. Read when somebody scrapes; nothing is formatted before. */
export interface MetricFamily {
  /** As Prometheus wants it: windjammer_, the thing, its unit; `_total` behind a counter. */
  readonly name: string;
  readonly type: MetricType;
  readonly unit: MetricUnit;
  readonly labels: readonly string[];
  readonly help: string;
  write(to: SampleWriter): void;
}

/** Labels as the text format has them: `a="1",b="2"`. Made once for each series. */
export function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
