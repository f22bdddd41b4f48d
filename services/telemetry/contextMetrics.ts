import type { ContextCounts } from '../feedback/index.js';
import { CONTEXT_METRICS } from '../metrics/index.js';
import { familiesOf, labelText, type MetricFamily, type ValueWriter } from './metricFamily.js';

/** An application's contexts. */
export type CountsOfApplication = readonly [application: string, counts: ContextCounts];

/** What is counted of contexts, read when somebody scrapes. */
export function contextFamilies(counts: () => Iterable<CountsOfApplication>): readonly MetricFamily[] {
  const each = (read: (counts: ContextCounts) => number) => (to: ValueWriter<'application'>) => {
    for (const [application, one] of counts()) to.value(labelText({ application }), read(one));
  };
  return familiesOf(CONTEXT_METRICS, {
    windjammer_contexts_held: each(({ held }) => held),
    windjammer_context_bytes: each(({ heldBytes }) => heldBytes),
    windjammer_contexts_kept: each(({ kept }) => kept),
    windjammer_context_reads_total: each(({ reads }) => reads),
    windjammer_context_evictions_total: each(({ evictions }) => evictions),
    windjammer_contexts_forgotten_total: (to) => {
      for (const [application, { expired, crowdedOut }] of counts()) {
        to.value(labelText({ application, reason: 'expired' }), expired);
        to.value(labelText({ application, reason: 'crowded_out' }), crowdedOut);
      }
    },
  });
}
