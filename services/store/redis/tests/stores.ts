import { expect } from 'vitest';
import type { Json } from '../../../../selection/index.js';
import type { Store, StoreChange, StoreFault } from '../../index.js';
import { setValue } from '../../tests/conformance.js';

let lasts = 0;

/** Until everybody has what was acknowledged: each sees a change of another, which comes after all that he knows. */
export async function settled(all: readonly Store[]): Promise<void> {
  await Promise.all(all.map((store) => fault(store, undefined)));
  for (const writer of all) {
    const value = `last ${(lasts += 1)}`;
    const seen = all.map((store) => shows(store, 'last', value));
    expect(await setValue(writer, 'last', value)).toMatchObject({ ok: true });
    await Promise.all(seen);
  }
}

export function shows(store: Store, key: string, value: Json): Promise<void> {
  return new Promise((resolve) => {
    const is = () => JSON.stringify(store.get(key)?.value) === JSON.stringify(value);
    if (is()) {
      resolve();
      return;
    }
    const unwatch = store.watch(key, () => {
      if (!is()) return;
      unwatch();
      resolve();
    });
  });
}

/** Until a store has such a fault; undefined: none any more. */
export const fault = (store: Store, cause: StoreFault['cause'] | undefined) =>
  new Promise<StoreFault | undefined>((resolve) => {
    if (store.fault()?.cause === cause) {
      resolve(store.fault());
      return;
    }
    const unwatch = store.watchFault((present) => {
      if (present?.cause !== cause) return;
      unwatch();
      resolve(present);
    });
  });

export const imageOf = (store: Store) => JSON.stringify(store.list(''));

/** Puts together what a watcher was told. */
export class Watched {
  readonly entries = new Map<string, unknown>();
  readonly changes: StoreChange[] = [];

  constructor(private readonly store: Store) {
    store.watch('', (change) => {
      this.changes.push(change);
      if (change.value === undefined) this.entries.delete(change.key);
      else this.entries.set(change.key, change.value);
    });
  }

  /** Nothing that the store shows has not been told. */
  expectWhole(): void {
    const told = [...this.entries].sort(([a], [b]) => (a < b ? -1 : 1));
    expect(told).toEqual(this.store.list('').map(({ key, entry }) => [key, entry]));
  }
}

/** As linear congruential generators go. */
export function draws(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
