import { FAULT_CAUSES, type StoreFault } from '../store/index.js';
import { labelText, type MetricFamily } from './metricFamily.js';

/** What is read of the store when somebody scrapes. */
export interface StoreSources {
  /** Why it keeps nothing at present. */
  fault(): StoreFault | undefined;
}

/** What is read of a store that several servers share. */
export interface SharedStoreSources {
  lagMs(): number;
  writesUnderWay(): number;
  readonly loads: number;
}

export function sharedStoreFamilies(store: SharedStoreSources): readonly MetricFamily[] {
  return [
    {
      name: 'windjammer_store_lag_seconds',
      type: 'gauge',
      unit: 'seconds',
      labels: [],
      help: 'How long ago this frontend was last known to have every change of the shared store; 0 while it follows',
      write: (to) => to.value('', store.lagMs() / 1000),
    },
    {
      name: 'windjammer_store_writes_in_flight',
      type: 'gauge',
      unit: '',
      labels: [],
      help: 'Writes to the shared store whose outcome is not known yet',
      write: (to) => to.value('', store.writesUnderWay()),
    },
    {
      name: 'windjammer_store_loads_total',
      type: 'counter',
      unit: '',
      labels: [],
      help: 'Times that all of the shared store was loaded: once at the start, and after each gap in its changes',
      write: (to) => to.value('', store.loads),
    },
  ];
}

/** @param refused tells how many writes of learned weights were refused since the start. */
export function storeFamilies(store: StoreSources, refused: () => number): readonly MetricFamily[] {
  return [
    {
      name: 'windjammer_store_failing',
      type: 'gauge',
      unit: '',
      labels: ['cause'],
      help: 'Whether the store (data directory or Redis) keeps nothing at present, by what keeps it from that: 1 or 0',
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
