import type { LabelsOf, SeriesName, Vector } from '../../../services/metrics/index.js';

/** A line of a chart for each set of labels that the query gives. */
export interface Line {
  readonly promql: string;
  /** Names of labels in double braces are replaced by Grafana. */
  readonly legend: string;
  /** Shows traces beside it, where Prometheus keeps them. */
  readonly hasExemplars?: boolean;
}

/** @param legend of a line, from the labels that the query leaves */
export function line<L extends string>(
  { text }: Vector<L>,
  legend: string | ((labels: Readonly<Record<L, string>>) => string),
): Line {
  if (typeof legend === 'string') return { promql: text, legend };
  const braces = new Proxy({}, { get: (_, label) => `{{${String(label)}}}` });
  return { promql: text, legend: legend(braces as Readonly<Record<L, string>>) };
}

export interface Panel {
  readonly title: string;
  /** What Grafana calls it. */
  readonly unit: string;
  readonly description?: string;
  readonly lines: readonly Line[];
  /** Where a value begins to be bad. */
  readonly limit?: number;
  /** Values may lie below zero, where other axes end. */
  readonly isSigned?: boolean;
}

/** What the user of a dashboard chooses of a label's values; one, several or all. */
export interface Variable {
  readonly label: string;
  /** A metric that has the values. */
  readonly of: string;
}

export function variable<S extends SeriesName>(label: LabelsOf<S>, of: S): Variable {
  return { label, of };
}

/** A dashboard. */
export interface Board {
  /** Of its file and of its address. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[];
}

/** Grafana's: as long as at least four scrapes. */
export const RANGE = '$__rate_interval';
