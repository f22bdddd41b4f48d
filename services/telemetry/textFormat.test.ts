import { describe, expect, it } from 'vitest';
import { HistogramTally } from './histogramTally.js';
import { labelText, type MetricFamily } from './metricFamily.js';
import { asOpenMetrics, familyText } from './textFormat.js';

function text(type: MetricFamily['type'], write: MetricFamily['write']): string {
  return familyText(
    { name: 'windjammer_thing', type, unit: '', labels: [], help: 'A \\ of\nit', write },
    'prometheus',
  );
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

  it('has traces behind buckets and counters without _total in their head in OpenMetrics, and only there', () => {
    const tally = new HistogramTally([1, 2]);
    for (const value of [0.5, 1.5, 7]) tally.observe(value);
    tally.keep({ traceId: 'aa', value: 0.25, atSeconds: 1.5 });
    tally.keep({ traceId: 'bb', value: 0.5, atSeconds: 2.5 });
    tally.keep({ traceId: 'cc', value: 7, atSeconds: 3 });
    const family = (name: string, type: MetricFamily['type'], write: MetricFamily['write']) =>
      familyText({ name, type, unit: '', labels: [], help: 'Help', write }, 'openMetrics')
        .split('\n')
        .slice(1);
    expect(family('windjammer_a_seconds', 'histogram', (to) => to.histogram('', tally)).slice(1)).toEqual([
      'windjammer_a_seconds_bucket{le="1"} 1 # {trace_id="bb"} 0.5 2.5',
      'windjammer_a_seconds_bucket{le="2"} 2',
      'windjammer_a_seconds_bucket{le="+Inf"} 3 # {trace_id="cc"} 7 3',
      'windjammer_a_seconds_sum 9',
      'windjammer_a_seconds_count 3',
      '',
    ]);
    expect(text('histogram', (to) => to.histogram('', tally))).not.toContain('trace_id');
    expect(family('windjammer_b_total', 'counter', (to) => to.value('', 1))).toEqual([
      '# TYPE windjammer_b counter',
      'windjammer_b_total 1',
      '',
    ]);
    expect(family('DCGM_TOTAL', 'counter', (to) => to.value('', 1))[0]).toBe('# TYPE DCGM_TOTAL unknown');
  });

  it('takes what the library writes over into OpenMetrics', () => {
    const written =
      '# HELP a_total Of a_total\n# TYPE a_total counter\na_total 1\n\n# HELP b_total B\n# TYPE b_total gauge\nb_total 2\n\n';
    expect(asOpenMetrics(written)).toBe(
      '# HELP a Of a_total\n# TYPE a counter\na_total 1\n# HELP b_total B\n# TYPE b_total gauge\nb_total 2\n',
    );
  });
});
