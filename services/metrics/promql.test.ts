import { describe, expect, it } from 'vitest';
import {
  duration,
  increase,
  least,
  matching,
  mean,
  not,
  quantile,
  rate,
  recorded,
  sum,
  until,
  value,
} from './promql.js';

describe('PromQL', () => {
  it('is written as Prometheus reads it', () => {
    const answered = rate('windjammer_queries_total', 300, { outcome: matching('a|"b"'), reason: not('') });
    expect(answered.text).toBe('rate(windjammer_queries_total{outcome=~"a|\\"b\\"",reason!=""}[5m])');
    expect(sum([], answered).text).toBe(`sum(${answered.text})`);
    expect(mean(['model'], 'windjammer_batch_size', '$__rate_interval').text).toBe(
      'sum by (model) (rate(windjammer_batch_size_sum[$__rate_interval])) / sum by (model) (rate(windjammer_batch_size_count[$__rate_interval]))',
    );
    expect(quantile(0.5, [], 'windjammer_query_latency_seconds', 60).text).toBe(
      'histogram_quantile(0.5, sum by (le) (rate(windjammer_query_latency_seconds_bucket[1m])))',
    );
    expect(until(value('windjammer_certificate_end_timestamp_seconds')).below(5).text).toBe(
      'windjammer_certificate_end_timestamp_seconds - time() < 5',
    );
    expect(recorded('a:b', answered).vector.text).toBe('a:b');
  });

  it('has parentheses where operators need them, and nowhere else', () => {
    const jobs = value('windjammer_jobs');
    expect(jobs.minus(jobs.minus(jobs)).times(2).above(jobs.plus(1)).text).toBe(
      '(windjammer_jobs - (windjammer_jobs - windjammer_jobs)) * 2 > windjammer_jobs + 1',
    );
    expect(jobs.over(jobs).from(1).above(2).and(jobs.below(1)).or(jobs).text).toBe(
      '1 - windjammer_jobs / windjammer_jobs > 2 and windjammer_jobs < 1 or windjammer_jobs',
    );
    expect(jobs.minus(1).from(2).text).toBe('2 - (windjammer_jobs - 1)');
  });

  it('writes times in the largest unit that leaves no rest', () => {
    expect([0.25, 1.5, 90, 300, 7200, 86_400].map(duration)).toEqual([
      '250ms',
      '1500ms',
      '90s',
      '5m',
      '2h',
      '1d',
    ]);
  });

  it('does not compile with what no metric has', () => {
    const wrong = [
      // @ts-expect-error no such metric
      () => value('windjammer_querys_total'),
      // @ts-expect-error a histogram has no series of its own name
      () => value('windjammer_query_latency_seconds'),
      // @ts-expect-error a counter has no buckets
      () => value('windjammer_queries_total_bucket'),
      // @ts-expect-error a gauge has no rate
      () => rate('windjammer_queue_depth', 60),
      // @ts-expect-error a gauge does not only grow
      () => increase('windjammer_jobs', 60),
      // @ts-expect-error of a counter the least is the first
      () => least('windjammer_queries_total', 60),
      // @ts-expect-error no such label
      () => value('windjammer_jobs', { status: 'done' }),
      // @ts-expect-error only buckets have bounds
      () => value('windjammer_batch_size_sum', { le: '1' }),
      // @ts-expect-error the metric has no such label to sum by
      () => sum(['node'], value('windjammer_jobs')),
      // @ts-expect-error summed away
      () => sum(['state'], sum(['job'], value('windjammer_jobs'))),
      // @ts-expect-error other labels never meet
      () => value('windjammer_jobs').over(value('windjammer_node_alive')),
      // @ts-expect-error no quantile of a gauge
      () => quantile(0.5, [], 'windjammer_queue_depth', 60),
    ];
    expect(wrong).toHaveLength(12);
  });
});
