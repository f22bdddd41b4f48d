import { moduleMemory, modulesBytes } from '../../simulator/driver/index.js';
import {
  DEVICE_HEAP_BYTES,
  EXECUTOR_AREA_BYTES,
  NODE_MEMORY_BYTES,
  SEGMENT_ALIGN,
} from '../../simulator/executor/index.js';
import type { IrModule } from '../../simulator/ptx/index.js';
import type { DeviceRegion } from './deviceLayout.js';

/** Batches that a replica has on the device at once, each with its own inputs, buffers and outputs. */
export const BATCHES_IN_FLIGHT = 2;

/** What one replica of a kernel model takes of a GPU beside its context, in bytes; plain JSON, kept with the model. */
export interface MemoryNeeds {
  /** Weights once; inputs, buffers and outputs for each batch in flight. */
  readonly arrayBytes: number;
  /** Variables of its modules, and the heap and the buffer of `printf` where its kernels ask for them. */
  readonly moduleBytes: number;
  /** Of the memory that is behind all GPUs of a node. */
  readonly backingBytes: number;
}

/** For launches that need more than the executor's own area, and tables of segments. */
const WORKING_BYTES = 64 * 2 ** 20;

/** Bytes of a node that replicas can have, all of its GPUs together. */
export const REPLICA_BACKING_BYTES = NODE_MEMORY_BYTES - EXECUTOR_AREA_BYTES - WORKING_BYTES;

/** @param modules lowered, in any order */
export function memoryNeeds(regions: readonly DeviceRegion[], modules: Iterable<IrModule>): MemoryNeeds {
  let arrayBytes = 0;
  let backingBytes = 0;
  for (const region of regions) {
    const { copies, bytes } = taken(region);
    arrayBytes += copies * bytes;
    backingBytes += copies * aligned(bytes);
  }
  const memories = [...modules].map(moduleMemory);
  for (const { variables } of memories) for (const bytes of variables) backingBytes += aligned(bytes);
  if (memories.some(({ usesHeap }) => usesHeap)) backingBytes += DEVICE_HEAP_BYTES;
  return { arrayBytes, moduleBytes: modulesBytes(memories), backingBytes };
}

/** How often an array is there, and how large each is. */
export function taken({ kind, bytes }: DeviceRegion): { readonly copies: number; readonly bytes: number } {
  return { copies: kind === 'weight' ? 1 : BATCHES_IN_FLIGHT, bytes };
}

/** Bytes that one replica takes of a card's memory. @param contextBytes of the card */
export function replicaBytes({ arrayBytes, moduleBytes }: MemoryNeeds, contextBytes: number): number {
  return contextBytes + arrayBytes + moduleBytes;
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / SEGMENT_ALIGN) * SEGMENT_ALIGN;
}
