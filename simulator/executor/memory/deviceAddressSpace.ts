import type { AddressSpace, Permission, Segment } from '../types.js';
import { GLOBAL_BASE, GLOBAL_WINDOW_BYTES, SEGMENT_ALIGN, type SegmentLayout } from './addressLayout.js';
import { DEVICE_HEAP_BYTES, SegmentHeap } from './deviceHeap.js';
import { MemoryError } from './memoryError.js';
import type { SpaceSnapshot } from './memorySnapshot.js';
import { SegmentTable, type TableBacking } from './segmentTable.js';

/** What an address space needs from the node's memory. */
export interface SpaceBacking extends TableBacking {
  /** Zeroed bytes. */
  allocateZeroed(bytes: number, align: number): number;
  readonly layout: SegmentLayout;
  readonly bytes: Uint8Array;
}

/**
 * One context's view of device memory on one GPU. Addresses are handed out going up and are reused only after the
 * window has wrapped, so that a freed buffer faults for as long as possible instead of aliasing a new one.
 */
export class DeviceAddressSpace implements AddressSpace {
  private sorted: Segment[] = [];
  private readonly first: number;
  private readonly limit: number;
  private nextAddress: number;
  private readonly table: SegmentTable;
  private tableOffset = -1;
  private changes = 0;
  private kernelHeap: SegmentHeap | undefined;

  constructor(
    readonly id: number,
    readonly gpu: number,
    private readonly backing: SpaceBacking,
  ) {
    this.first = GLOBAL_BASE + gpu * GLOBAL_WINDOW_BYTES;
    this.limit = this.first + GLOBAL_WINDOW_BYTES;
    this.nextAddress = this.first;
    this.table = new SegmentTable(backing);
  }

  map(askedBytes: number, permission: Permission): Segment {
    if (!Number.isSafeInteger(askedBytes) || askedBytes <= 0) {
      throw new MemoryError('invalidSize', `bytes must be a positive integer, got ${askedBytes}`);
    }
    const bytes = roundUp(askedBytes, this.backing.layout.unit);
    const virtualAddress = this.findGap(bytes);
    const offset = this.backing.allocateZeroed(bytes, SEGMENT_ALIGN);
    const segment: Segment = { virtualAddress, bytes, askedBytes, offset, permission, watched: false };
    this.sorted.splice(this.lowerBound(virtualAddress), 0, segment);
    this.nextAddress = virtualAddress + this.span(bytes);
    this.onChange();
    return segment;
  }

  unmap(virtualAddress: number): void {
    const index = this.lowerBound(virtualAddress);
    const segment = this.sorted[index];
    if (segment?.virtualAddress !== virtualAddress) {
      throw new MemoryError('unmapped', `no segment starts at ${hex(virtualAddress)}`);
    }
    this.sorted.splice(index, 1);
    this.onChange();
    if (segment.offset >= 0) this.backing.release(segment.offset);
  }

  find(virtualAddress: number): Segment | undefined {
    const index = this.lowerBound(virtualAddress);
    const exact = this.sorted[index];
    if (exact?.virtualAddress === virtualAddress) return exact;
    const below = this.sorted[index - 1];
    return below !== undefined && virtualAddress < below.virtualAddress + below.bytes ? below : undefined;
  }

  segments(): readonly Segment[] {
    return this.sorted;
  }

  get mapping(): number {
    return this.changes;
  }

  view(virtualAddress: number, bytes: number): Uint8Array {
    const segment = this.find(virtualAddress);
    const end = virtualAddress + bytes;
    if (segment === undefined || end > segment.virtualAddress + segment.bytes || segment.offset < 0) {
      throw new MemoryError(
        'outOfBounds',
        segment === undefined
          ? `nothing is mapped at ${hex(virtualAddress)}`
          : `${bytes} bytes at ${hex(virtualAddress)} leave the segment of ${segment.bytes} bytes at ` +
              hex(segment.virtualAddress),
      );
    }
    const offset = segment.offset + (virtualAddress - segment.virtualAddress);
    return this.backing.bytes.subarray(offset, offset + bytes);
  }

  /** The heap, when it has been opened. */
  get heap(): SegmentHeap | undefined {
    return this.kernelHeap;
  }

  openHeap(): SegmentHeap {
    this.kernelHeap ??= new SegmentHeap(
      this.map(DEVICE_HEAP_BYTES, 'readWrite').virtualAddress,
      DEVICE_HEAP_BYTES,
    );
    return this.kernelHeap;
  }

  /** The segment table for compiled code, brought up to date. */
  segmentTable(): { readonly offset: number; readonly count: number } {
    if (this.tableOffset < 0) this.tableOffset = this.table.write(this.sorted);
    return { offset: this.tableOffset, count: this.sorted.length };
  }

  /** Unmaps everything. */
  clear(): void {
    for (const segment of this.sorted) if (segment.offset >= 0) this.backing.release(segment.offset);
    this.table.release();
    this.sorted = [];
    this.onChange();
    this.kernelHeap = undefined;
  }

  snapshot(): SpaceSnapshot {
    return {
      id: this.id,
      gpu: this.gpu,
      nextAddress: this.nextAddress,
      segments: this.sorted.map((segment) => ({ ...segment })),
      ...(this.kernelHeap === undefined ? {} : { heap: this.kernelHeap.snapshot() }),
    };
  }

  /** Takes the snapshot's segments; their backing is already in place. */
  restore(snapshot: SpaceSnapshot): void {
    this.table.forget();
    this.onChange();
    this.sorted = snapshot.segments.map((segment) => ({ ...segment }));
    this.nextAddress = snapshot.nextAddress;
    this.kernelHeap = snapshot.heap === undefined ? undefined : SegmentHeap.fromSnapshot(snapshot.heap);
  }

  private onChange(): void {
    this.tableOffset = -1;
    this.changes += 1;
  }

  /** Index of the first segment that starts at or above the address. */
  private lowerBound(virtualAddress: number): number {
    let low = 0;
    let high = this.sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const segment = this.sorted[middle];
      if (segment !== undefined && segment.virtualAddress < virtualAddress) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** From a segment's start to where the next may begin. */
  private span(bytes: number): number {
    const { gap, align } = this.backing.layout;
    return roundUp(bytes + gap, align);
  }

  private findGap(bytes: number): number {
    const span = this.span(bytes);
    if (this.nextAddress + span <= this.limit && this.isFree(this.nextAddress, span)) return this.nextAddress;
    let at = this.first;
    for (const segment of this.sorted) {
      if (segment.virtualAddress - at >= span) return at;
      at = segment.virtualAddress + this.span(segment.bytes);
    }
    if (at + span <= this.limit) return at;
    throw new MemoryError(
      'addressSpaceExhausted',
      `no gap of ${bytes} bytes in the ${GLOBAL_WINDOW_BYTES}-byte address window of GPU ${this.gpu}`,
    );
  }

  private isFree(address: number, span: number): boolean {
    const index = this.lowerBound(address);
    const above = this.sorted[index];
    const below = this.sorted[index - 1];
    return (
      (above === undefined || address + span <= above.virtualAddress) &&
      (below === undefined || below.virtualAddress + below.bytes + this.backing.layout.gap <= address)
    );
  }
}

function roundUp(bytes: number, unit: number): number {
  return Math.ceil(bytes / unit) * unit;
}

function hex(address: number): string {
  return `0x${address.toString(16)}`;
}
