import { LOCAL_WINDOW_BASE, PARAM_WINDOW_BASE, SHARED_WINDOW_BASE } from '../memory/index.js';
import type { AddressSpace, Segment } from '../types.js';
import { LaneFault } from './faults.js';
import { lanesPerWarp } from './registerFile.js';

export type ResolvedSpace = 'global' | 'shared' | 'local' | 'param';

/** A place in memory that has been checked: `bytes` holds it at `at`. */
export interface Location {
  readonly space: ResolvedSpace;
  readonly view: DataView;
  readonly at: number;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function hex(address: number): string {
  return `0x${address.toString(16)}`;
}

/** Global memory of a context, as one launch sees it. */
export class GlobalMemory {
  private segment: Segment | undefined;
  private view: DataView = new DataView(new ArrayBuffer(0));
  private readonly views = new Map<Segment, DataView>();
  private mapping = -1;

  constructor(private readonly space: AddressSpace) {}

  /** A segment's bytes; accesses by turns go to one and another. */
  private viewOf(segment: Segment): DataView {
    const { space, views } = this;
    if (this.mapping !== space.mapping) views.clear();
    this.mapping = space.mapping;
    let view = views.get(segment);
    if (view === undefined) {
      view = viewOf(space.view(segment.virtualAddress, segment.bytes));
      views.set(segment, view);
    }
    return view;
  }

  locate(address: number, bytes: number, isWrite: boolean, align = bytes): Location {
    if (address % align !== 0) {
      throw new LaneFault(
        'misalignedAddress',
        `global address ${hex(address)} is not a multiple of ${align}`,
        address,
      );
    }
    if (this.segment === undefined || !contains(this.segment, address, bytes)) {
      const found = this.space.find(address);
      if (found === undefined || !contains(found, address, bytes)) {
        throw new LaneFault(
          'illegalAddress',
          `no memory is mapped at global address ${hex(address)}`,
          address,
        );
      }
      this.segment = found;
      this.view = this.viewOf(found);
    }
    if (isWrite && this.segment.permission === 'read') {
      throw new LaneFault('writeToReadOnly', `global address ${hex(address)} is read-only`, address);
    }
    return { space: 'global', view: this.view, at: address - this.segment.virtualAddress };
  }

  /**
   * The same for lanes that access one segment: `at` is what to add to an address. Undefined where they do not, or where an
   * access is not allowed.
   */
  locateTogether(
    addresses: Float64Array,
    lanes: number,
    bytes: number,
    isWrite: boolean,
  ): Location | undefined {
    const first = addresses[31 - Math.clz32(lanes & -lanes)] ?? 0;
    if (this.segment === undefined || !contains(this.segment, first, bytes)) {
      const found = this.space.find(first);
      if (found === undefined || !contains(found, first, bytes)) return undefined;
      this.segment = found;
      this.view = this.viewOf(found);
    }
    const { virtualAddress, bytes: size, permission } = this.segment;
    if (isWrite && permission === 'read') return undefined;
    if (!areWithin(addresses, lanes, bytes, virtualAddress, virtualAddress + size)) return undefined;
    return { space: 'global', view: this.view, at: -virtualAddress };
  }
}

/**
 * Whether the accesses of all lanes of a mask lie between two addresses at multiples of their size.
 * @param bytes of each; a power of two
 */
function areWithin(
  addresses: Float64Array,
  lanes: number,
  bytes: number,
  from: number,
  until: number,
): boolean {
  const last = until - bytes;
  if (lanes === -1) {
    for (let lane = 0; lane < lanesPerWarp; lane++) {
      const address = addresses[lane] ?? 0;
      if (address < from || address > last || (address & (bytes - 1)) !== 0) return false;
    }
    return true;
  }
  for (let rest = lanes; rest !== 0; rest &= rest - 1) {
    const address = addresses[31 - Math.clz32(rest & -rest)] ?? 0;
    if (address < from || address > last || (address & (bytes - 1)) !== 0) return false;
  }
  return true;
}

function contains(segment: Segment, address: number, bytes: number): boolean {
  return address >= segment.virtualAddress && address + bytes <= segment.virtualAddress + segment.bytes;
}

/** Shared, local and parameter memory: an array that starts at offset 0 of its space. */
export class OffsetMemory {
  private readonly view: DataView;

  constructor(
    private readonly space: 'shared' | 'local' | 'param',
    bytes: Uint8Array,
  ) {
    this.view = viewOf(bytes);
  }

  locate(offset: number, bytes: number, isWrite: boolean, align = bytes): Location {
    if (isWrite && this.space === 'param') {
      throw new LaneFault('writeToReadOnly', `parameter offset ${hex(offset)} is read-only`, offset);
    }
    if (offset < 0 || offset + bytes > this.view.byteLength) {
      throw new LaneFault(
        this.space === 'shared' ? 'sharedOutOfBounds' : 'localOutOfBounds',
        `${bytes} bytes at ${this.space} offset ${hex(offset)} are outside its ${this.view.byteLength} bytes`,
        offset,
      );
    }
    if (offset % align !== 0) {
      throw new LaneFault(
        'misalignedAddress',
        `${this.space} offset ${hex(offset)} is not a multiple of ${align}`,
        offset,
      );
    }
    return { space: this.space, view: this.view, at: offset };
  }

  /** See `GlobalMemory.locateTogether`. */
  locateTogether(
    offsets: Float64Array,
    lanes: number,
    bytes: number,
    isWrite: boolean,
  ): Location | undefined {
    if (isWrite && this.space === 'param') return undefined;
    if (!areWithin(offsets, lanes, bytes, 0, this.view.byteLength)) return undefined;
    return { space: this.space, view: this.view, at: 0 };
  }
}

/** Zeros that belong to nobody: where an access goes that was let pass though it is not allowed. */
export function nowhere(space: ResolvedSpace, bytes: number): Location {
  return { space, view: new DataView(new ArrayBuffer(bytes)), at: 0 };
}

/** What a generic address names: the high word tells the space. */
export function splitGeneric(address: number): { space: ResolvedSpace; address: number } {
  const high = Math.floor(address / 2 ** 32);
  if (high === SHARED_WINDOW_BASE / 2 ** 32)
    return { space: 'shared', address: address - SHARED_WINDOW_BASE };
  if (high === LOCAL_WINDOW_BASE / 2 ** 32) return { space: 'local', address: address - LOCAL_WINDOW_BASE };
  if (high === PARAM_WINDOW_BASE / 2 ** 32) return { space: 'param', address: address - PARAM_WINDOW_BASE };
  return { space: 'global', address };
}

/** Little-endian bits of 1, 2, 4 or 8 bytes. */
export function loadBits(location: Location, bytes: number): bigint {
  const { view, at } = location;
  if (bytes === 1) return BigInt(view.getUint8(at));
  if (bytes === 2) return BigInt(view.getUint16(at, true));
  return bytes === 4 ? BigInt(view.getUint32(at, true)) : view.getBigUint64(at, true);
}

export function storeBits(location: Location, bytes: number, bits: bigint): void {
  const { view, at } = location;
  if (bytes === 1) view.setUint8(at, Number(bits & 0xffn));
  else if (bytes === 2) view.setUint16(at, Number(bits & 0xffffn), true);
  else if (bytes === 4) view.setUint32(at, Number(bits & 0xffffffffn), true);
  else view.setBigUint64(at, bits, true);
}
