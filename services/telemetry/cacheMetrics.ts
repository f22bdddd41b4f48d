import type { CacheStats, ModelLookups } from '../cache/index.js';
import { labelText, type MetricFamily, type SampleWriter } from './metricFamily.js';

/** A model version's lookups. */
export type LookupsOfModel = readonly [model: string, version: string, lookups: ModelLookups];

/** The prediction cache counts for itself; these are read when somebody scrapes. */
export function cacheFamilies(
  stats: () => CacheStats,
  lookups: () => Iterable<LookupsOfModel>,
): readonly MetricFamily[] {
  const byModel = (write: (to: SampleWriter, labels: string, counts: ModelLookups) => void) => {
    return (to: SampleWriter): void => {
      for (const [model, version, counts] of lookups()) write(to, labelText({ model, version }), counts);
    };
  };
  const gauge = (
    name: string,
    unit: MetricFamily['unit'],
    help: string,
    read: (stats: CacheStats) => number,
  ): MetricFamily => {
    return { name, type: 'gauge', unit, labels: [], help, write: (to) => to.value('', read(stats())) };
  };
  return [
    {
      name: 'windjammer_cache_lookups_total',
      type: 'counter',
      unit: '',
      labels: ['model', 'version', 'result'],
      help: 'Lookups in the prediction cache: hit, join (an evaluation under way is shared) or miss; together they are all predictions that were asked for',
      write: byModel((to, labels, { hits, joins, misses }) => {
        to.value(`${labels},result="hit"`, hits);
        to.value(`${labels},result="join"`, joins);
        to.value(`${labels},result="miss"`, misses);
      }),
    },
    {
      name: 'windjammer_evaluations_total',
      type: 'counter',
      unit: '',
      labels: ['model', 'version', 'outcome'],
      help: 'What became of cache misses: predicted, model_error, expired in the queue, overload (not queued), no_replica, invalid_input (the container takes no such input), cancelled',
      write: byModel((to, labels, { predicted, failed, abandoned }) => {
        to.value(`${labels},outcome="predicted"`, predicted);
        for (const [reason, count] of Object.entries(failed))
          to.value(`${labels},outcome="${reason}"`, count);
        to.value(`${labels},outcome="cancelled"`, abandoned);
      }),
    },
    {
      name: 'windjammer_cache_evictions_total',
      type: 'counter',
      unit: '',
      labels: ['model', 'version'],
      help: 'Predictions that made room for others',
      write: byModel((to, labels, { evictions }) => to.value(labels, evictions)),
    },
    gauge('windjammer_cache_entries', '', 'Predictions in the cache', (s) => s.entries),
    gauge('windjammer_cache_bytes', 'bytes', 'Bytes that they take', (s) => s.bytes),
    gauge('windjammer_cache_limit_bytes', 'bytes', 'Bytes that they may take', (s) => s.limitBytes),
    gauge('windjammer_cache_pending', '', 'Evaluations under way', (s) => s.pending),
  ];
}
