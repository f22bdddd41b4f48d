import type { DeviceHeap } from '../types.js';

/** CUDA's default `cudaLimitMallocHeapSize`. */
export const DEVICE_HEAP_BYTES = 8 * 2 ** 20;

const CHUNK_ALIGN = 16;
/** Bytes in front of every chunk that belong to nobody, where an allocator would keep its own records. */
const HEADER_BYTES = 16;

/** A heap's state as plain data. Offsets count from the heap's start. */
export interface HeapSnapshot {
  readonly address: number;
  readonly bytes: number;
  readonly chunks: readonly (readonly [offset: number, bytes: number])[];
}

/**
 * The heap behind `malloc` and `free` in kernels: chunks inside one segment, the lowest free place that fits first. Its
 * records lie outside device memory, where no kernel can harm them.
 */
export class SegmentHeap implements DeviceHeap {
  private readonly chunks = new Map<number, number>();
  /** Free ranges, ascending: offset and bytes by turns. */
  private free: { offset: number; bytes: number }[];

  constructor(
    readonly address: number,
    readonly bytes: number,
  ) {
    this.free = [{ offset: 0, bytes }];
  }

  static fromSnapshot(snapshot: HeapSnapshot): SegmentHeap {
    const heap = new SegmentHeap(snapshot.address, snapshot.bytes);
    heap.restore(snapshot);
    return heap;
  }

  malloc(bytes: number): number {
    if (!Number.isSafeInteger(bytes) || bytes < 0) return 0;
    const needed = HEADER_BYTES + Math.ceil(bytes / CHUNK_ALIGN) * CHUNK_ALIGN;
    const index = this.free.findIndex((range) => range.bytes >= needed);
    const range = this.free[index];
    if (range === undefined) return 0;
    const offset = range.offset + HEADER_BYTES;
    if (range.bytes === needed) this.free.splice(index, 1);
    else this.free[index] = { offset: range.offset + needed, bytes: range.bytes - needed };
    this.chunks.set(offset, bytes);
    return this.address + offset;
  }

  release(address: number): boolean {
    const offset = address - this.address;
    const bytes = this.chunks.get(offset);
    if (bytes === undefined) return false;
    this.chunks.delete(offset);
    this.giveBack(offset - HEADER_BYTES, HEADER_BYTES + Math.ceil(bytes / CHUNK_ALIGN) * CHUNK_ALIGN);
    return true;
  }

  chunkAt(address: number): { readonly address: number; readonly bytes: number } | undefined {
    const bytes = this.chunks.get(address - this.address);
    return bytes === undefined ? undefined : { address, bytes };
  }

  allocations(): readonly { readonly address: number; readonly bytes: number }[] {
    return [...this.chunks]
      .sort(([a], [b]) => a - b)
      .map(([offset, bytes]) => ({ address: this.address + offset, bytes }));
  }

  mark(): () => void {
    const before = this.snapshot();
    return () => this.restore(before);
  }

  snapshot(): HeapSnapshot {
    return {
      address: this.address,
      bytes: this.bytes,
      chunks: [...this.chunks].sort(([a], [b]) => a - b),
    };
  }

  restore({ chunks }: HeapSnapshot): void {
    this.chunks.clear();
    this.free = [];
    let end = 0;
    for (const [offset, bytes] of chunks) {
      this.chunks.set(offset, bytes);
      const start = offset - HEADER_BYTES;
      if (start > end) this.free.push({ offset: end, bytes: start - end });
      end = offset + Math.ceil(bytes / CHUNK_ALIGN) * CHUNK_ALIGN;
    }
    if (end < this.bytes) this.free.push({ offset: end, bytes: this.bytes - end });
  }

  private giveBack(offset: number, bytes: number): void {
    let low = 0;
    let high = this.free.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.free[middle]?.offset ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    const before = this.free[low - 1];
    const after = this.free[low];
    const joinsBefore = before !== undefined && before.offset + before.bytes === offset;
    const joinsAfter = after !== undefined && offset + bytes === after.offset;
    const start = joinsBefore ? before.offset : offset;
    const end = joinsAfter ? after.offset + after.bytes : offset + bytes;
    this.free.splice(joinsBefore ? low - 1 : low, Number(joinsBefore) + Number(joinsAfter), {
      offset: start,
      bytes: end - start,
    });
  }
}
