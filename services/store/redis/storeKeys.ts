/** Names of everything that a store keeps in Redis, below the prefix of its installation. */
export interface StoreKeys {
  readonly meta: string;
  readonly state: string;
  /** As `state`, of a folder of cold keys. */
  cold(folder: string): string;
  readonly boots: string;
  readonly trial: string;
  /** Each epoch has its own: who follows one never takes a change of another for the next. */
  changes(epoch: string): string;
  writer(id: string): string;
  mark(mark: string): string;
  /** Where a repair gathers what becomes the state. */
  repair(id: string): string;
}

/** @param prefix as of `keyPrefix` */
export function storeKeys(prefix: string): StoreKeys {
  const key = (...parts: readonly string[]) => [prefix, 'store', ...parts].join(':');
  return {
    meta: key('meta'),
    state: key('state'),
    cold: (folder) => key('cold', folder),
    boots: key('boots'),
    trial: key('trial'),
    changes: (epoch) => key('changes', epoch),
    writer: (id) => key('writer', id),
    mark: (mark) => key('mark', mark),
    repair: (id) => key('repair', id),
  };
}
