export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** By name of the series (`…_bucket`, `…_sum` and `…_count` are names of their own). */
export type MetricSamples = ReadonlyMap<string, readonly MetricSample[]>;

const SERIES = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** What Prometheus' text format holds; lines that are no series are passed over. */
export function readMetrics(text: string): MetricSamples {
  const found = new Map<string, MetricSample[]>();
  for (const line of text.split('\n')) {
    const match = line.startsWith('#') ? null : SERIES.exec(line);
    if (match === null) continue;
    const [, name, labels = '', value] = match;
    const sample = { labels: labelsOf(labels), value: value === '+Inf' ? Infinity : Number(value) };
    const samples = found.get(name);
    if (samples === undefined) found.set(name, [sample]);
    else samples.push(sample);
  }
  return found;
}

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [, name, value] of text.matchAll(LABEL)) {
    labels[name] = value.replace(/\\(.)/g, (_all, sign: string) => (sign === 'n' ? '\n' : sign));
  }
  return labels;
}
