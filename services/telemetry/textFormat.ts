import type { HistogramTally } from './histogramTally.js';
import type { MetricFamily, SampleWriter } from './metricFamily.js';

/** One family in Prometheus' text format, version 0.0.4. */
export function familyText(family: MetricFamily): string {
  const writer = new TextWriter(family.name);
  family.write(writer);
  const help = family.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${family.name} ${help}\n# TYPE ${family.name} ${family.type}\n${writer.text}`;
}

class TextWriter implements SampleWriter {
  private readonly parts: string[] = [];

  constructor(private readonly name: string) {}

  /** One flat string: a rope of all the pieces would be flattened at once with those of every other family. */
  get text(): string {
    return this.parts.join('');
  }

  value(labels: string, value: number): void {
    this.parts.push(this.name, labels === '' ? ' ' : `{${labels}} `, number(value), '\n');
  }

  histogram(labels: string, { bounds, counts, sum }: HistogramTally): void {
    const { name, parts } = this;
    const start = labels === '' ? `${name}_bucket{le="` : `${name}_bucket{${labels},le="`;
    const end = labels === '' ? ' ' : `{${labels}} `;
    let total = 0;
    for (let i = 0; i < bounds.length; i++) {
      total += counts[i];
      parts.push(start, number(bounds[i]), '"} ', number(total), '\n');
    }
    total += counts[bounds.length];
    const all = number(total);
    parts.push(
      start,
      '+Inf"} ',
      all,
      '\n',
      name,
      '_sum',
      end,
      number(sum),
      '\n',
      name,
      '_count',
      end,
      all,
      '\n',
    );
  }
}

function number(value: number): string {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  return Number.isNaN(value) ? 'NaN' : String(value);
}
