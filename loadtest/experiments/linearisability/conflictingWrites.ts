import { performance } from 'node:perf_hooks';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import type { OnceOutcome, Store } from '../../../services/store/index.js';
import type { FinalState, HistoryWrite } from './history.js';

export interface ConflictingWrites {
  readonly stores: readonly Store[];
  readonly writes: number;
  readonly keys: number;
  /** Under way at once on each store. */
  readonly clients: number;
  readonly seed: number;
  /** Called before each write: with so many it may cut a line. */
  readonly disturb?: (write: number) => void;
}

/** Has every store write the same keys at once, over what it sees and over whatever is there; keeps what was told. */
export async function writeConflicting(options: ConflictingWrites): Promise<HistoryWrite[]> {
  const { stores, writes, keys, clients, seed, disturb } = options;
  const random = xoroshiro128plus(seed);
  const draw = (below: number) => uniformInt(random, 0, below - 1);
  const history: HistoryWrite[] = [];
  let begun = 0;
  const client = async (store: Store, underWay: Map<string, number>): Promise<void> => {
    while (begun < writes) {
      const id = `w${begun++}`;
      disturb?.(begun);
      const key = `k${draw(keys)}`;
      const seen = store.get(key)?.version ?? 0;
      // Some are late, as clients are that have read some time ago.
      const expected: number | 'any' = draw(4) === 0 ? 'any' : draw(10) === 0 ? Math.max(0, seen - 1) : seen;
      const own = underWay.get(key) ?? 0;
      underWay.set(key, own + 1);
      const invoked = performance.now();
      const outcome = await new Promise<OnceOutcome>((resolve) => store.set(key, id, expected, resolve));
      const returned = performance.now();
      underWay.set(key, (underWay.get(key) ?? 1) - 1);
      const common = { id, key, expected, invoked, returned, isBuiltOnOwn: own > 0 };
      if (outcome.ok) history.push({ ...common, outcome: 'made', version: outcome.version });
      else if (outcome.reason !== 'failed') history.push({ ...common, outcome: 'refused' });
      else {
        history.push({ ...common, outcome: outcome.cause === 'unknown' ? 'unknown' : 'failed' });
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  };
  await Promise.all(
    stores.flatMap((store) => {
      const underWay = new Map<string, number>();
      return Array.from({ length: clients }, () => client(store, underWay));
    }),
  );
  return history;
}

export function finalState(store: Store): FinalState {
  return new Map(
    store.list('k').map(({ key, entry }) => [key, { version: entry.version, id: entry.value as string }]),
  );
}
