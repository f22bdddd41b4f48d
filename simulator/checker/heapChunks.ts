import type { AddressSpace, Segment } from '../executor/index.js';
import type { Allocation } from './allocation.js';

/** What kernels have been given of the device heap, and what they gave back. */
export class HeapChunks {
  /** Ascending. */
  private readonly live: Allocation[] = [];
  private readonly freed: Allocation[] = [];
  private segment: Segment | undefined;

  constructor(private readonly space: AddressSpace) {}

  give(chunk: Allocation): void {
    this.segment ??= this.space.find(chunk.address);
    this.live.splice(this.above(chunk.address), 0, chunk);
    const end = chunk.address + chunk.bytes;
    const kept = this.freed.filter(
      (each) => each.address >= end || each.address + each.bytes <= chunk.address,
    );
    this.freed.splice(0, this.freed.length, ...kept);
  }

  /** @param how said of it from now on, as in "which thread … freed" */
  takeBack(address: number, how: string): void {
    const index = this.live.findIndex((each) => each.address === address);
    const [chunk] = index < 0 ? [] : this.live.splice(index, 1);
    if (chunk !== undefined) this.freed.push({ ...chunk, name: `${chunk.name}, ${how}` });
  }

  holds(address: number): boolean {
    const { segment } = this;
    return (
      segment !== undefined &&
      address >= segment.virtualAddress &&
      address < segment.virtualAddress + segment.bytes
    );
  }

  /** The live chunk at or below the address, or the lowest there is. */
  nearest(address: number): Allocation | undefined {
    return this.live[this.above(address) - 1] ?? this.live[0];
  }

  freedAt(address: number): Allocation | undefined {
    return this.freed.findLast((each) => address >= each.address && address < each.address + each.bytes);
  }

  /** Index of the first live chunk that starts above the address. */
  private above(address: number): number {
    let low = 0;
    let high = this.live.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.live[middle]?.address ?? 0) <= address) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
