import type { NodeRoom } from '../../containers/runtime/index.js';
import type { BundleDesk } from '../bundles/index.js';
import type { GpuCapacity, ReplicaStatus } from '../deployment/index.js';
import type { SelectionStates } from '../feedback/index.js';
import type { ModelRecord, Registry } from '../registry/index.js';

export interface AdminSources {
  readonly registry: Registry;
  readonly replicas: () => readonly ReplicaStatus[];
  /** The version of a model that answers: an older one than the current one until that has a replica that is up. */
  readonly servingVersion: (name: string) => string | undefined;
  /** What every node's GPUs have room for. */
  readonly rooms: () => readonly NodeRoom[];
  /** Whether containers can dial in: a model that waits for one is refused otherwise. */
  readonly dialsIn?: boolean | undefined;
  /** Changes of scales go through it. */
  readonly capacity: Pick<GpuCapacity, 'admit'>;
  /** Puts the files of a version where every node finds them, before it is registered. Absent: nodes see them where they are. */
  readonly keepFiles?: ((model: ModelRecord) => Promise<void>) | undefined;
  /** Files of models that clients have sent. */
  readonly bundles: Pick<BundleDesk, 'has' | 'receive' | 'hold' | 'keep'>;
  /** The learned states of an application; undefined: there is none. */
  readonly states?: ((application: string) => SelectionStates | undefined) | undefined;
  /** Share of queries that each model of an application gets, in one selection context. */
  readonly selectionShares: (application: string, context: string) => ReadonlyMap<string, number> | undefined;
}
