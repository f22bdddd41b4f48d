import { describe, expect, it } from 'vitest';
import { HistogramTally } from './histogramTally.js';
import { labelText, type MetricFamily } from './metricFamily.js';
import { familyText } from './textFormat.js';

function text(type: MetricFamily['type'], write: MetricFamily['write']): string {
  return familyText({ name: 'windjammer_thing', type, unit: '', labels: [], help: 'A \\ of\nit', write });
}

describe('the text format', () => {
  it('has every bucket with what is below it, a value on a bound among them', () => {
    const tally = new HistogramTally([1, 2, 5]);
    for (const value of [0.5, 1, 1.5, 2, 4, 5, 6, 100]) tally.observe(value);
    expect(
      text('histogram', (to) => to.histogram('a="b"', tally))
        .split('\n')
        .slice(2),
    ).toEqual([
      'windjammer_thing_bucket{a="b",le="1"} 2',
      'windjammer_thing_bucket{a="b",le="2"} 4',
      'windjammer_thing_bucket{a="b",le="5"} 6',
      'windjammer_thing_bucket{a="b",le="+Inf"} 8',
      'windjammer_thing_sum{a="b"} 120',
      'windjammer_thing_count{a="b"} 8',
      '',
    ]);
  });

  it('escapes what labels and help may not have, and writes every number', () => {
    const labels = labelText({ replica: 'a"b\\c\nd', model: 'm' });
    const lines = text('gauge', (to) => {
      to.value(labels, 1e-7);
      to.value('', Infinity);
      to.value('', -Infinity);
      to.value('', NaN);
    });
    expect(lines.split('\n')).toEqual([
      '# HELP windjammer_thing A \\\\ of\\nit',
      '# TYPE windjammer_thing gauge',
      'windjammer_thing{replica="a\\"b\\\\c\\nd",model="m"} 1e-7',
      'windjammer_thing +Inf',
      'windjammer_thing -Inf',
      'windjammer_thing NaN',
      '',
    ]);
  });
});
