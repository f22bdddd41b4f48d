import { MemoryError } from './memoryError.js';

interface Range {
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Hands out ranges of `[start, end)`: first fit over a free list that is kept sorted and coalesced. It knows offsets
 * only; growing and zeroing are its owner's business.
 */
export class BackingAllocator {
  private free: Range[];
  private readonly used = new Map<number, number>();
  private usedTotal = 0;

  constructor(
    private readonly start: number,
    private readonly end: number,
  ) {
    this.free = [{ offset: start, bytes: end - start }];
  }

  get usedBytes(): number {
    return this.usedTotal;
  }

  get freeBytes(): number {
    return this.end - this.start - this.usedTotal;
  }

  get largestFreeBytes(): number {
    return this.free.reduce((largest, range) => Math.max(largest, range.bytes), 0);
  }

  /**
   * @param align a power of two.
   * @returns the offset. @throws MemoryError `outOfBackingMemory`.
   */
  allocate(bytes: number, align: number): number {
    for (let index = 0; index < this.free.length; index++) {
      const range = this.free[index];
      if (range === undefined) break;
      const offset = Math.ceil(range.offset / align) * align;
      if (offset + bytes > range.offset + range.bytes) continue;
      this.take(index, offset, bytes);
      return offset;
    }
    throw new MemoryError(
      'outOfBackingMemory',
      `the node's backing memory has no free range of ${bytes} bytes (${this.freeBytes} free, largest range ` +
        `${this.largestFreeBytes}); free buffers or give the node more backing`,
    );
  }

  /** Takes exactly this range, as a snapshot recorded it. @throws MemoryError `invalidSnapshot` when it is not free. */
  reserve(offset: number, bytes: number): void {
    const index = this.free.findIndex(
      (range) => range.offset <= offset && offset + bytes <= range.offset + range.bytes,
    );
    if (index < 0) {
      throw new MemoryError('invalidSnapshot', `backing range ${offset}+${bytes} is not free`);
    }
    this.take(index, offset, bytes);
  }

  /** @returns the bytes freed. @throws MemoryError `unmapped` when nothing was allocated at the offset. */
  release(offset: number): number {
    const bytes = this.used.get(offset);
    if (bytes === undefined) throw new MemoryError('unmapped', `no backing allocation starts at ${offset}`);
    this.used.delete(offset);
    this.usedTotal -= bytes;
    let at = this.free.findIndex((range) => range.offset > offset);
    if (at < 0) at = this.free.length;
    let merged: Range = { offset, bytes };
    let from = at;
    let count = 0;
    const before = this.free[at - 1];
    if (before !== undefined && before.offset + before.bytes === offset) {
      merged = { offset: before.offset, bytes: before.bytes + merged.bytes };
      from = at - 1;
      count += 1;
    }
    const after = this.free[at];
    if (after !== undefined && offset + bytes === after.offset) {
      merged = { offset: merged.offset, bytes: merged.bytes + after.bytes };
      count += 1;
    }
    this.free.splice(from, count, merged);
    return bytes;
  }

  private take(index: number, offset: number, bytes: number): void {
    const range = this.free[index];
    if (range === undefined) return;
    const pieces: Range[] = [];
    if (offset > range.offset) pieces.push({ offset: range.offset, bytes: offset - range.offset });
    const rest = range.offset + range.bytes - (offset + bytes);
    if (rest > 0) pieces.push({ offset: offset + bytes, bytes: rest });
    this.free.splice(index, 1, ...pieces);
    this.used.set(offset, bytes);
    this.usedTotal += bytes;
  }
}
