import type { Permission } from '../types.js';
import type { Guard } from './addressLayout.js';
import type { HeapSnapshot } from './deviceHeap.js';

/** A segment as plain data; `offset` names the backing range that holds its bytes. */
export interface SegmentSnapshot {
  readonly virtualAddress: number;
  readonly bytes: number;
  readonly askedBytes: number;
  readonly offset: number;
  readonly permission: Permission;
  readonly watched: boolean;
}

export interface SpaceSnapshot {
  readonly id: number;
  readonly gpu: number;
  /** Where the next segment is looked for. */
  readonly nextAddress: number;
  readonly segments: readonly SegmentSnapshot[];
  /** The heap of kernels, once one has allocated. */
  readonly heap?: HeapSnapshot;
}

/** Everything of a node's memory that later work can see: plain data, fit for structured clone. */
export interface NodeMemorySnapshot {
  readonly version: 1;
  readonly backingBytes: number;
  readonly guard: Guard;
  readonly isDeclaredOnly: boolean;
  readonly nextSpaceId: number;
  readonly spaces: readonly SpaceSnapshot[];
  readonly contents: readonly { readonly offset: number; readonly data: Uint8Array }[];
}
