import { createHash } from 'node:crypto';
import { LAYOUTS, MAX_GPU_WINDOWS, type Guard, type SegmentLayout } from './addressLayout.js';
import { BackingAllocator } from './backingAllocator.js';
import { DeviceAddressSpace, type SpaceBacking } from './deviceAddressSpace.js';
import { MemoryError } from './memoryError.js';
import type { NodeMemorySnapshot } from './memorySnapshot.js';

const PAGE_BYTES = 65_536;
/** The most that a node's memory holds, all of its GPUs together. */
export const NODE_MEMORY_BYTES = 65_536 * PAGE_BYTES;
/** Low memory belongs to the executor: launch record, counters, shared memory, thread contexts. Never part of a snapshot. */
export const EXECUTOR_AREA_BYTES = 4 * 2 ** 20;
const HASH_CHUNK_BYTES = 2 ** 22;
/** Offset of a segment that nothing backs. */
const NOT_BACKED = -1;

export interface NodeMemoryOptions {
  /** Functional backing in bytes, all GPUs of the node together; at most (and by default) 4 GiB. */
  readonly backingBytes?: number | undefined;
  /** Segments are only declared: nothing is behind them, and they take no memory of the host. Default false. */
  readonly isDeclaredOnly?: boolean;
  /** Whether accesses just outside a segment fault. Default 'exact': they do. */
  readonly guard?: Guard | undefined;
}

/**
 * One node's functional memory: a single shared WebAssembly memory that grows on demand, carved among the address
 * spaces of its contexts and GPUs.
 *
 * Views go stale in length when the memory grows: take `bytes` anew after anything that may allocate.
 */
export class NodeMemory implements SpaceBacking {
  readonly memory: WebAssembly.Memory;
  readonly backingBytes: number;
  readonly isDeclaredOnly: boolean;
  readonly guard: Guard;
  private allocator: BackingAllocator;
  private readonly spacesById = new Map<number, DeviceAddressSpace>();
  private nextSpaceId = 1;
  private current: Uint8Array;
  /** Bytes at or above this were never handed out, so they are still zero. */
  private dirtyEnd = EXECUTOR_AREA_BYTES;

  constructor(options: NodeMemoryOptions = {}) {
    const backingBytes = options.backingBytes ?? NODE_MEMORY_BYTES;
    if (
      !Number.isSafeInteger(backingBytes) ||
      backingBytes <= EXECUTOR_AREA_BYTES ||
      backingBytes > NODE_MEMORY_BYTES
    ) {
      throw new MemoryError(
        'invalidSize',
        `backingBytes must be an integer above ${EXECUTOR_AREA_BYTES} and at most ${NODE_MEMORY_BYTES}, got ${backingBytes}`,
      );
    }
    this.backingBytes = backingBytes;
    this.isDeclaredOnly = options.isDeclaredOnly ?? false;
    this.guard = options.guard ?? 'exact';
    this.memory = new WebAssembly.Memory({
      initial: EXECUTOR_AREA_BYTES / PAGE_BYTES,
      maximum: Math.ceil(backingBytes / PAGE_BYTES),
      shared: true,
    });
    this.current = new Uint8Array(this.memory.buffer);
    this.allocator = new BackingAllocator(EXECUTOR_AREA_BYTES, backingBytes);
  }

  /** A node in the state of the snapshot. */
  static fromSnapshot(snapshot: NodeMemorySnapshot): NodeMemory {
    const { backingBytes, isDeclaredOnly, guard } = snapshot;
    const node = new NodeMemory({ backingBytes, isDeclaredOnly, guard });
    node.restore(snapshot);
    return node;
  }

  get layout(): SegmentLayout {
    return LAYOUTS[this.guard];
  }

  get buffer(): ArrayBufferLike {
    return this.memory.buffer;
  }

  /** All bytes, at the memory's present length. */
  get bytes(): Uint8Array {
    return this.current;
  }

  get usedBytes(): number {
    return this.allocator.usedBytes;
  }

  get freeBytes(): number {
    return this.allocator.freeBytes;
  }

  /** @param gpu index of the GPU inside its node: spaces of one context on several GPUs never overlap. */
  createSpace(gpu = 0): DeviceAddressSpace {
    if (!Number.isInteger(gpu) || gpu < 0 || gpu >= MAX_GPU_WINDOWS) {
      throw new MemoryError(
        'invalidSize',
        `gpu must be an integer from 0 to ${MAX_GPU_WINDOWS - 1}, got ${gpu}`,
      );
    }
    const space = new DeviceAddressSpace(this.nextSpaceId, gpu, this);
    this.nextSpaceId += 1;
    this.spacesById.set(space.id, space);
    return space;
  }

  /** Frees everything that the space maps. */
  destroySpace(space: DeviceAddressSpace): void {
    if (this.spacesById.get(space.id) !== space) {
      throw new MemoryError('unmapped', `address space ${space.id} does not belong to this node`);
    }
    space.clear();
    this.spacesById.delete(space.id);
  }

  /** The space of that id: how a forked node's owner finds its spaces again. */
  space(id: number): DeviceAddressSpace | undefined {
    return this.spacesById.get(id);
  }

  spaces(): readonly DeviceAddressSpace[] {
    return [...this.spacesById.values()];
  }

  /** A range with any content. @throws MemoryError `outOfBackingMemory`. */
  allocate(bytes: number, align: number): number {
    const offset = this.allocator.allocate(Math.max(1, bytes), align);
    try {
      this.ensure(offset + bytes);
    } catch (error) {
      this.allocator.release(offset);
      throw error;
    }
    this.dirtyEnd = Math.max(this.dirtyEnd, offset + bytes);
    return offset;
  }

  allocateZeroed(bytes: number, align: number): number {
    if (this.isDeclaredOnly) return NOT_BACKED;
    const dirtyEnd = this.dirtyEnd;
    const offset = this.allocate(bytes, align);
    if (offset < dirtyEnd) this.current.fill(0, offset, Math.min(offset + bytes, dirtyEnd));
    return offset;
  }

  release(offset: number): void {
    this.allocator.release(offset);
  }

  snapshot(): NodeMemorySnapshot {
    const contents: { offset: number; data: Uint8Array }[] = [];
    for (const space of this.spacesById.values()) {
      for (const segment of space.segments()) {
        if (segment.offset < 0) continue;
        contents.push({
          offset: segment.offset,
          data: new Uint8Array(this.current.subarray(segment.offset, segment.offset + segment.bytes)),
        });
      }
    }
    return {
      version: 1,
      backingBytes: this.backingBytes,
      isDeclaredOnly: this.isDeclaredOnly,
      guard: this.guard,
      nextSpaceId: this.nextSpaceId,
      spaces: this.spaces().map((space) => space.snapshot()),
      contents,
    };
  }

  /**
   * Goes back to the snapshot's state. Spaces keep their identity: one with the same id is refilled, a later one is
   * dropped, a missing one is made. @throws MemoryError `invalidSnapshot`.
   */
  restore(snapshot: NodeMemorySnapshot): void {
    if ((snapshot.version as number) !== 1 || snapshot.backingBytes > this.backingBytes) {
      throw new MemoryError(
        'invalidSnapshot',
        `needs version 1 and at most ${this.backingBytes} backing bytes, got version ${snapshot.version} ` +
          `and ${snapshot.backingBytes}`,
      );
    }
    if (snapshot.guard !== this.guard) {
      throw new MemoryError('invalidSnapshot', `needs guard '${snapshot.guard}', got '${this.guard}'`);
    }
    this.allocator = new BackingAllocator(EXECUTOR_AREA_BYTES, this.backingBytes);
    for (const { offset, data } of snapshot.contents) {
      this.allocator.reserve(offset, data.length);
      this.ensure(offset + data.length);
      this.dirtyEnd = Math.max(this.dirtyEnd, offset + data.length);
      this.current.set(data, offset);
    }
    const kept = new Set(snapshot.spaces.map((space) => space.id));
    for (const id of [...this.spacesById.keys()]) if (!kept.has(id)) this.spacesById.delete(id);
    for (const saved of snapshot.spaces) {
      const space = this.spacesById.get(saved.id) ?? new DeviceAddressSpace(saved.id, saved.gpu, this);
      space.restore(saved);
      this.spacesById.set(saved.id, space);
    }
    this.nextSpaceId = snapshot.nextSpaceId;
  }

  /** An independent node in the same state. */
  fork(): NodeMemory {
    return NodeMemory.fromSnapshot(this.snapshot());
  }

  /** SHA-256 over every space's segments, addresses and contents; where their bytes lie in the backing does not count. */
  hash(): string {
    const hash = createHash('sha256');
    const ids = [...this.spacesById.keys()].sort((a, b) => a - b);
    for (const id of ids) {
      const space = this.spacesById.get(id);
      if (space === undefined) continue;
      hash.update(`space ${id} gpu ${space.gpu}\n`);
      for (const { address, bytes } of space.heap?.allocations() ?? [])
        hash.update(`heap ${address} ${bytes}\n`);
      for (const segment of space.segments()) {
        hash.update(`${segment.virtualAddress} ${segment.bytes} ${segment.permission} ${segment.watched}\n`);
        for (let at = 0; at < segment.bytes && segment.offset >= 0; at += HASH_CHUNK_BYTES) {
          const end = Math.min(segment.bytes, at + HASH_CHUNK_BYTES);
          // The hash takes no view of shared memory, so each chunk is copied.
          hash.update(new Uint8Array(this.current.subarray(segment.offset + at, segment.offset + end)));
        }
      }
    }
    return hash.digest('hex');
  }

  private ensure(end: number): void {
    const missing = end - this.current.length;
    if (missing <= 0) return;
    const limit = Math.ceil(this.backingBytes / PAGE_BYTES) * PAGE_BYTES;
    // Grow by half as much again as is there, so that many small allocations do not grow many times.
    const wanted = Math.min(limit, Math.max(end, this.current.length * 1.5));
    const pages = (length: number) => Math.ceil((length - this.current.length) / PAGE_BYTES);
    if (!this.tryGrow(pages(wanted)) && !this.tryGrow(pages(end))) {
      throw new MemoryError(
        'outOfBackingMemory',
        `the host refused to grow the node's backing memory to ${end} bytes`,
      );
    }
    this.current = new Uint8Array(this.memory.buffer);
  }

  private tryGrow(pages: number): boolean {
    try {
      this.memory.grow(pages);
      return true;
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
  }
}
