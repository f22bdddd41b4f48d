import type { AddressSpace } from '../executor/index.js';
import type { Allocation } from './allocation.js';
import { HeapChunks } from './heapChunks.js';

/** What lies, or lay, where in a context's memory, for messages about addresses that hit nothing. */
export class Allocations {
  private readonly names = new Map<number, string>();
  private readonly freed: Allocation[] = [];
  readonly heap: HeapChunks;

  constructor(private readonly space: AddressSpace) {
    this.heap = new HeapChunks(space);
  }

  name(address: number, name: string): void {
    this.names.set(address, name);
  }

  /** Remembers an allocation that has been given back. */
  recordFree(allocation: Allocation): void {
    this.freed.push(allocation);
  }

  /** The allocation that was freed last of those that held the address. */
  freedAt(address: number): Allocation | undefined {
    return (
      this.heap.freedAt(address) ??
      this.freed.findLast((each) => address >= each.address && address < each.address + each.bytes)
    );
  }

  /** Where an access of `bytes` bytes lies, seen from the nearest allocation. */
  describe(address: number, bytes: number): string {
    const where = hex(address);
    const freed = this.freedAt(address);
    if (freed !== undefined) return `${where} is inside ${extentOf(freed)}, which was freed`;
    const nearest = this.heap.holds(address) ? this.heap.nearest(address) : this.nearest(address);
    if (nearest === undefined) return `${where} is in no allocation; there is none`;
    const end = nearest.address + nearest.bytes;
    if (address < nearest.address) {
      return `${where} is ${count(nearest.address - address)} before the start of ${extentOf(nearest)}`;
    }
    if (address >= end) return `${where} is ${count(address - end)} after the end of ${extentOf(nearest)}`;
    const past = address + bytes - end;
    const within = `${where} is inside ${extentOf(nearest)}`;
    return past > 0 ? `${within}, but the last ${count(past)} of the access are past its end` : within;
  }

  private nearest(address: number): Allocation | undefined {
    let best: Allocation | undefined;
    let least = Infinity;
    for (const { virtualAddress, bytes } of this.space.segments()) {
      const distance =
        address < virtualAddress
          ? virtualAddress - address
          : Math.max(0, address - (virtualAddress + bytes) + 1);
      if (distance >= least) continue;
      least = distance;
      best = { address: virtualAddress, bytes, name: this.names.get(virtualAddress) ?? 'device memory' };
    }
    return best;
  }
}

export function hex(address: number): string {
  return `0x${address.toString(16)}`;
}

export function count(bytes: number): string {
  return bytes === 1 ? '1 byte' : `${bytes} bytes`;
}

function extentOf({ name, address, bytes }: Allocation): string {
  return `${name} (${count(bytes)} at ${hex(address)})`;
}
