import type { Change } from './dashboard/index.js';
import type { ReplicaStatus } from './deployment/index.js';
import type { Registry } from './registry/index.js';
import { RegistryChanges } from './registryChanges.js';

/** What changed, as it happens: of the registry, whoever changed it, and replicas that this server has lost. */
export class ChangeFeed {
  private readonly listeners = new Set<(change: Change) => void>();
  private readonly registry: RegistryChanges;

  constructor(
    registry: Registry,
    private readonly nowMs: () => number,
  ) {
    this.registry = new RegistryChanges(registry, (change) => this.tell(change));
  }

  /** Returns the unsubscriber. */
  watch(listener: (change: Change) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  lost({ model, version, replica, lastFailure }: ReplicaStatus): void {
    const what = `${model} v${version}, replica ${replica}`;
    this.tell({ kind: 'lost', what, text: `lost: ${lastFailure ?? 'no reason is known'}` });
  }

  close(): void {
    this.registry.close();
    this.listeners.clear();
  }

  private tell(change: Omit<Change, 'at'>): void {
    const told = { at: this.nowMs(), ...change };
    for (const listener of this.listeners) listener(told);
  }
}
