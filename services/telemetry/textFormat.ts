import type { MetricsFormat } from '../metrics/index.js';
import type { Exemplar, HistogramTally } from './histogramTally.js';
import type { MetricFamily, SampleWriter } from './metricFamily.js';

const TOTAL = /_total$/;

/** One family in Prometheus' text format, version 0.0.4, or in OpenMetrics', version 1.0.0, which has exemplars too. */
export function familyText(family: MetricFamily, format: MetricsFormat): string {
  const writer = new TextWriter(family.name, format === 'openMetrics');
  family.write(writer);
  const { name, type } = format === 'openMetrics' ? openMetricsHead(family) : family;
  const help = family.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${writer.text}`;
}

/** What a library has written in Prometheus' text format, in OpenMetrics'. */
export function asOpenMetrics(text: string): string {
  const types = new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]));
  return text
    .replace(/^# (HELP|TYPE) (\w+) (.*)$/gm, (_, word: string, name: string, rest: string) => {
      const head = openMetricsHead({ name, type: types.get(name) ?? 'unknown' });
      return `# ${word} ${head.name} ${word === 'TYPE' ? head.type : rest}`;
    })
    .replace(/\n\n+/g, '\n');
}

/** There a counter has its name without `_total`, and one that has no `_total` is none. */
function openMetricsHead({ name, type }: { readonly name: string; readonly type: string }) {
  if (type !== 'counter') return { name, type };
  return TOTAL.test(name) ? { name: name.replace(TOTAL, ''), type } : { name, type: 'unknown' };
}

class TextWriter implements SampleWriter {
  private readonly parts: string[] = [];

  constructor(
    private readonly name: string,
    private readonly hasExemplars: boolean,
  ) {}

  /** One flat string: a rope of all the pieces would be flattened at once with those of every other family. */
  get text(): string {
    return this.parts.join('');
  }

  value(labels: string, value: number): void {
    this.parts.push(this.name, labels === '' ? ' ' : `{${labels}} `, number(value), '\n');
  }

  histogram(labels: string, { bounds, counts, sum, exemplars }: HistogramTally): void {
    const { name, parts } = this;
    const shown = this.hasExemplars ? exemplars : undefined;
    const start = labels === '' ? `${name}_bucket{le="` : `${name}_bucket{${labels},le="`;
    const end = labels === '' ? ' ' : `{${labels}} `;
    let total = 0;
    for (let i = 0; i < bounds.length; i++) {
      total += counts[i];
      parts.push(start, number(bounds[i]), '"} ', number(total), exemplarText(shown?.[i]), '\n');
    }
    total += counts[bounds.length];
    const all = number(total);
    parts.push(start, '+Inf"} ', all, exemplarText(shown?.[bounds.length]), '\n');
    parts.push(name, '_sum', end, number(sum), '\n', name, '_count', end, all, '\n');
  }
}

function exemplarText(exemplar: Exemplar | undefined): string {
  if (exemplar === undefined) return '';
  const { traceId, value, atSeconds } = exemplar;
  return ` # {trace_id="${traceId}"} ${number(value)} ${atSeconds}`;
}

function number(value: number): string {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  return Number.isNaN(value) ? 'NaN' : String(value);
}
