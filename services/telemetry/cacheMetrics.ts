import type { CacheStats, ModelLookups } from '../cache/index.js';
import { CACHE_METRICS } from '../metrics/index.js';
import { familiesOf, labelText, NO_LABELS, withLabels, type MetricFamily } from './metricFamily.js';

/** A model version's lookups. */
export type LookupsOfModel = readonly [model: string, version: string, lookups: ModelLookups];

/** The prediction cache counts for itself; these are read when somebody scrapes. */
export function cacheFamilies(
  stats: () => CacheStats,
  lookups: () => Iterable<LookupsOfModel>,
): readonly MetricFamily[] {
  function* byModel() {
    for (const [model, version, counts] of lookups()) yield [labelText({ model, version }), counts] as const;
  }
  return familiesOf(CACHE_METRICS, {
    windjammer_cache_lookups_total: (to) => {
      for (const [labels, { hits, joins, misses }] of byModel()) {
        to.value(withLabels(labels, { result: 'hit' }), hits);
        to.value(withLabels(labels, { result: 'join' }), joins);
        to.value(withLabels(labels, { result: 'miss' }), misses);
      }
    },
    windjammer_evaluations_total: (to) => {
      for (const [labels, { predicted, failed, abandoned }] of byModel()) {
        to.value(withLabels(labels, { outcome: 'predicted' }), predicted);
        for (const [outcome, count] of Object.entries(failed))
          to.value(withLabels(labels, { outcome }), count);
        to.value(withLabels(labels, { outcome: 'cancelled' }), abandoned);
      }
    },
    windjammer_cache_evictions_total: (to) => {
      for (const [labels, { evictions }] of byModel()) to.value(labels, evictions);
    },
    windjammer_cache_entries: (to) => to.value(NO_LABELS, stats().entries),
    windjammer_cache_bytes: (to) => to.value(NO_LABELS, stats().bytes),
    windjammer_cache_limit_bytes: (to) => to.value(NO_LABELS, stats().limitBytes),
    windjammer_cache_pending: (to) => to.value(NO_LABELS, stats().pending),
  });
}
