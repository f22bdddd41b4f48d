/** Texts in which metrics are answered. */
export type MetricsFormat = 'prometheus' | 'openMetrics';

export type MetricType = 'counter' | 'gauge' | 'histogram';
export type MetricUnit = 'seconds' | 'bytes' | 'ratio' | '';

/** A metric without its values. Its name is its key in the catalogue: windjammer_, the thing, its unit; `_total` behind a counter. */
export interface MetricDescription {
  readonly type: MetricType;
  readonly unit: MetricUnit;
  readonly labels: readonly string[];
  readonly help: string;
}

export type MetricTable = Readonly<Record<string, MetricDescription>>;

/** Makes descriptions of which the type knows the labels. */
function describe<const T extends MetricType>(type: T) {
  return <const L extends readonly string[]>(labels: L, help: string, unit: MetricUnit = '') => {
    return { type, unit, labels, help };
  };
}

export const counter = describe('counter');
export const gauge = describe('gauge');
export const histogram = describe('histogram');
