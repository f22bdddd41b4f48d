import { FAULT_CAUSES, type StoreFault } from '../store/index.js';
import { labelText, type MetricFamily } from './metricFamily.js';

/** What is read of the store when somebody scrapes. */
export interface StoreSources {
  /** Why it keeps nothing at present. */
  fault(): StoreFault | undefined;
}

/** @param refused tells how many writes of learned weights were refused since the start. */
export function storeFamilies(store: StoreSources, refused: () => number): readonly MetricFamily[] {
  return [
    {
      name: 'windjammer_store_failing',
      type: 'gauge',
      unit: '',
      labels: ['cause'],
      help: 'Whether the data directory keeps nothing at present, by what keeps it from that: 1 or 0',
      write: (to) => {
        const present = store.fault()?.cause;
        for (const cause of FAULT_CAUSES) to.value(labelText({ cause }), cause === present ? 1 : 0);
      },
    },
    {
      name: 'windjammer_state_writes_refused_total',
      type: 'counter',
      unit: '',
      labels: [],
      help: 'Times that learned weights could not be written; they stay in memory and are written later',
      write: (to) => to.value('', refused()),
    },
  ];
}
