import type { ReplicaStatus } from '../deployment/index.js';
import type { Registry } from '../registry/index.js';

export interface AdminSources {
  readonly registry: Registry;
  readonly replicas: () => readonly ReplicaStatus[];
  /** The version of a model that answers: an older one than the current one until that has a replica that is up. */
  readonly servingVersion: (name: string) => string | undefined;
  /** Names of the GPUs that models run on. */
  readonly gpuCards: () => readonly string[];
  /** Share of queries that each model of an application gets, in one selection context. */
  readonly selectionShares: (application: string, context: string) => ReadonlyMap<string, number> | undefined;
}
