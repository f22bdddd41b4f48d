import type { ReplicaIdentity } from '../replicaIdentity.js';

/** What a GPU has room for, and what waits on it. Plain JSON: nodes in other processes send the same. */
export interface GpuRoom {
  /** Its device profile. */
  readonly card: string;
  readonly declaredBytes: number;
  /** By replicas that were started and have not given it back: arrays, modules, contexts. */
  readonly reservedBytes: number;
  readonly freeBytes: number;
  /** That each replica's context takes. */
  readonly contextBytes: number;
  readonly replicas: number;
  /** Sent and not answered. */
  readonly batchesInFlight: number;
  /** Simulated time that they will take, each as long as its replica's latest. */
  readonly waitingNs: number;
  /** It takes no replica more. */
  readonly isCordoned: boolean;
}

/** A replica that holds memory. */
export interface RoomHolder extends ReplicaIdentity {
  readonly gpu: number;
  readonly bytes: number;
  readonly backingBytes: number;
}

/** A node's GPUs, and the memory that is behind all of them. */
export interface NodeRoom {
  readonly node: string;
  readonly backingBytes: number;
  readonly freeBackingBytes: number;
  readonly gpus: readonly GpuRoom[];
  readonly holders: readonly RoomHolder[];
}

/** How people name a GPU: `node0/1`. */
export function gpuName(node: string, gpu: number): string {
  return `${node}/${gpu}`;
}

/** Every GPU's name, in order. */
export function gpuNames(rooms: readonly NodeRoom[]): readonly string[] {
  return rooms.flatMap(({ node, gpus }) => gpus.map((_, gpu) => gpuName(node, gpu)));
}
