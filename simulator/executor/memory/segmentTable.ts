import type { Segment } from '../types.js';

/** Layout of one entry; entries are sorted by address, for a binary search by compiled code. */
export const SEGMENT_ENTRY = {
  bytes: 32,
  /** i64: first virtual address. */
  base: 0,
  /** i64: extent in bytes. */
  extent: 8,
  /** i32: offset in the WebAssembly memory. */
  offset: 16,
  /** i32: see `SEGMENT_FLAGS`. */
  flags: 20,
} as const;

export const SEGMENT_FLAGS = { writable: 1, watched: 2, backed: 4 } as const;

/** What the table needs from the node's memory. */
export interface TableBacking {
  allocate(bytes: number, align: number): number;
  release(offset: number): void;
  readonly buffer: ArrayBufferLike;
}

/** The copy of one address space's segments that compiled code searches. */
export class SegmentTable {
  private at = -1;
  private capacity = 0;

  constructor(private readonly backing: TableBacking) {}

  /** Writes the sorted segments; @returns the table's offset in the WebAssembly memory. */
  write(segments: readonly Segment[]): number {
    if (segments.length > this.capacity || this.at < 0) {
      this.release();
      this.capacity = Math.max(16, 2 ** Math.ceil(Math.log2(segments.length + 1)));
      this.at = this.backing.allocate(this.capacity * SEGMENT_ENTRY.bytes, 64);
    }
    const view = new DataView(this.backing.buffer, this.at, this.capacity * SEGMENT_ENTRY.bytes);
    segments.forEach((segment, index) => {
      const entry = index * SEGMENT_ENTRY.bytes;
      setAddress(view, entry + SEGMENT_ENTRY.base, segment.virtualAddress);
      setAddress(view, entry + SEGMENT_ENTRY.extent, segment.bytes);
      view.setInt32(entry + SEGMENT_ENTRY.offset, segment.offset, true);
      const flags =
        (segment.permission === 'readWrite' ? SEGMENT_FLAGS.writable : 0) |
        (segment.watched ? SEGMENT_FLAGS.watched : 0) |
        (segment.offset >= 0 ? SEGMENT_FLAGS.backed : 0);
      view.setInt32(entry + SEGMENT_ENTRY.flags, flags, true);
    });
    return this.at;
  }

  release(): void {
    if (this.at >= 0) this.backing.release(this.at);
    this.forget();
  }

  /** The backing was reset: what the table held is gone. */
  forget(): void {
    this.at = -1;
    this.capacity = 0;
  }
}

/** Device addresses have 47 bits: exact as a number, two halves in memory. */
function setAddress(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % 2 ** 32, true);
  view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
}
