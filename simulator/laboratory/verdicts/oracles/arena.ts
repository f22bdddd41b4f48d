import type { AddressSpace, Segment } from '../../../executor/index.js';

/** An arena is compared and restored once for each kill: oracles are for small ones. */
export const MAX_ARENA_BYTES = 65_536;

/**
 * All of an address space's memory as one image: the bytes of its segments, one after another by ascending address. Offsets
 * into the image name bytes of memory.
 */
export class Arena {
  readonly bytes: number;
  private readonly segments: readonly Segment[];
  private readonly offsets: readonly number[];
  private last = 0;

  /** @throws RangeError when the space maps more than MAX_ARENA_BYTES. */
  constructor(private readonly space: AddressSpace) {
    this.segments = [...space.segments()];
    let bytes = 0;
    this.offsets = this.segments.map((segment) => {
      const at = bytes;
      bytes += segment.bytes;
      return at;
    });
    this.bytes = bytes;
    if (bytes > MAX_ARENA_BYTES)
      throw new RangeError(
        `the instance's memory has ${bytes} bytes: oracles take at most ${MAX_ARENA_BYTES}, make its allocations smaller`,
      );
  }

  /** Offset of an address in the image, or -1 when `bytes` bytes from there on are in no segment. */
  offsetOf(address: number, bytes: number): number {
    for (let tried = 0; tried < this.segments.length; tried++) {
      const which = (this.last + tried) % this.segments.length;
      const segment = this.segments[which];
      const offset = this.offsets[which];
      if (segment === undefined || offset === undefined) continue;
      const inside = address - segment.virtualAddress;
      if (inside < 0 || inside + bytes > segment.bytes) continue;
      this.last = which;
      return offset + inside;
    }
    return -1;
  }

  read(): Uint8Array {
    const image = new Uint8Array(this.bytes);
    this.segments.forEach((segment, index) => image.set(this.view(segment), this.offsets[index]));
    return image;
  }

  write(image: Uint8Array): void {
    this.segments.forEach((segment, index) => {
      const at = this.offsets[index] ?? 0;
      this.view(segment).set(image.subarray(at, at + segment.bytes));
    });
  }

  /** Offset of the first byte at which memory differs from an image, or -1. */
  firstDifference(image: Uint8Array): number {
    for (let which = 0; which < this.segments.length; which++) {
      const segment = this.segments[which];
      const at = this.offsets[which];
      if (segment === undefined || at === undefined) continue;
      const wanted = image.subarray(at, at + segment.bytes);
      const found = this.view(segment);
      if (Buffer.compare(found, wanted) === 0) continue;
      return at + found.findIndex((byte, index) => byte !== wanted[index]);
    }
    return -1;
  }

  private view({ virtualAddress, bytes }: Segment): Uint8Array {
    return this.space.view(virtualAddress, bytes);
  }
}
