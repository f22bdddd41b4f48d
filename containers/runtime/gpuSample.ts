import type { ContextReading, GpuNode, GpuReading } from '../../simulator/cluster/index.js';
import type { ReplicaIdentity } from './replicaIdentity.js';

/** What a GPU of a node is doing, and for whom. Plain data: it changes threads. */
export interface GpuSample extends Omit<GpuReading, 'contexts'> {
  readonly contexts: readonly ContextSample[];
}

export interface ContextSample extends ContextReading {
  /** The replica that runs in it; none of a context that somebody else made, or that is being left. */
  readonly owner?: ReplicaIdentity;
}

/** Of every GPU of a node, now. */
export function gpuSamples(
  node: GpuNode,
  ownerOf: (context: number) => ReplicaIdentity | undefined,
): readonly GpuSample[] {
  return node.profiles.map((_, gpu) => {
    const { contexts, ...reading } = node.reading(gpu);
    return {
      ...reading,
      contexts: contexts.map((context) => {
        const owner = ownerOf(context.context);
        return owner === undefined ? context : { ...context, owner };
      }),
    };
  });
}
