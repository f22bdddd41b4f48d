import { SHARED_STORE_METRICS, STORE_METRICS } from '../metrics/index.js';
import { FAULT_CAUSES, type StoreFault } from '../store/index.js';
import type { DiskRoom, DiskSize } from './diskRoom.js';
import { familiesOf, labelText, NO_LABELS, type MetricFamily, type ValueWriter } from './metricFamily.js';

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
  return familiesOf(SHARED_STORE_METRICS, {
    windjammer_store_lag_seconds: (to) => to.value(NO_LABELS, store.lagMs() / 1000),
    windjammer_store_writes_in_flight: (to) => to.value(NO_LABELS, store.writesUnderWay()),
    windjammer_store_loads_total: (to) => to.value(NO_LABELS, store.loads),
  });
}

/** @param refused tells how many writes of learned weights were refused since the start. */
export function storeFamilies(
  store: StoreSources,
  disk: DiskRoom | undefined,
  refused: () => number,
): readonly MetricFamily[] {
  const ofDisk = (read: (size: DiskSize) => number) => (to: ValueWriter<never>) => {
    const size = disk?.latest();
    if (size !== undefined) to.value(NO_LABELS, read(size));
  };
  return familiesOf(STORE_METRICS, {
    windjammer_data_directory_free_bytes: ofDisk(({ freeBytes }) => freeBytes),
    windjammer_data_directory_size_bytes: ofDisk(({ sizeBytes }) => sizeBytes),
    windjammer_store_failing: (to) => {
      const present = store.fault()?.cause;
      for (const cause of FAULT_CAUSES) to.value(labelText({ cause }), cause === present ? 1 : 0);
    },
    windjammer_state_writes_refused_total: (to) => to.value(NO_LABELS, refused()),
  });
}
