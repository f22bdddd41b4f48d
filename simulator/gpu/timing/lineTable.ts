const LINE_BYTES = 128;
const SECTOR_BYTES = 32;

/** How a block used the two halves of a line: what it loaded that it had not stored before, and what it stored. */
export const LOADED = { shift: 0, mask: 0b0011 } as const;
export const STORED = { shift: 2, mask: 0b1100 } as const;
/** L1 was asked for the line. */
const CACHED = 0b1_0000;

const FIRST_CAPACITY = 256;
/** Knuth's multiplicative hashing. */
const GOLDEN = 0x9e3779b1;

/** The lines of 128 bytes that a block accessed, each at a place of its own, in the order of their first use. */
export class LineTable {
  count = 0;
  lines = new Float64Array(FIRST_CAPACITY);
  /** Start address of the segment that each lies in, or -1. */
  segments = new Float64Array(FIRST_CAPACITY);
  uses = new Uint8Array(FIRST_CAPACITY);
  private next = new Int32Array(FIRST_CAPACITY);
  private heads = new Int32Array(2 * FIRST_CAPACITY).fill(-1);

  /** Where a line is, or -1. */
  find(line: number): number {
    let place = this.heads[this.bucketOf(line)];
    while (place >= 0 && this.lines[place] !== line) place = this.next[place];
    return place;
  }

  /** Where a line is from now on. */
  place(line: number, segment: number): number {
    if (this.count === this.lines.length) this.grow();
    const place = this.count++;
    this.lines[place] = line;
    this.segments[place] = segment;
    this.link(place);
    return place;
  }

  /** Notes a request for some sectors of a line; what the block stored itself it does not load. */
  use(place: number, sectors: number, isLoad: boolean): void {
    const halves = ((sectors & 3) === 0 ? 0 : 1) | ((sectors & 12) === 0 ? 0 : 2);
    const before = this.uses[place];
    this.uses[place] = before | (isLoad ? halves & ~(before >> STORED.shift) : halves << STORED.shift);
  }

  noteCached(place: number): void {
    this.uses[place] |= CACHED;
  }

  /** Whether L1 was asked for a line. */
  wasCached(line: number): boolean {
    const place = this.find(line);
    return place >= 0 && (this.uses[place] & CACHED) !== 0;
  }

  private bucketOf(line: number): number {
    return (Math.imul(line, GOLDEN) >>> 8) & (this.heads.length - 1);
  }

  private link(place: number): void {
    const bucket = this.bucketOf(this.lines[place]);
    this.next[place] = this.heads[bucket];
    this.heads[bucket] = place;
  }

  private grow(): void {
    const capacity = 4 * this.lines.length;
    this.lines = copied(new Float64Array(capacity), this.lines);
    this.segments = copied(new Float64Array(capacity), this.segments);
    this.uses = copied(new Uint8Array(capacity), this.uses);
    this.next = new Int32Array(capacity);
    this.heads = new Int32Array(2 * capacity).fill(-1);
    for (let place = 0; place < this.count; place++) this.link(place);
  }
}

function copied<A extends Float64Array | Uint8Array>(into: A, from: A): A {
  into.set(from);
  return into;
}

/** Address of the first sector of a line that a request asks for. */
export function sectorAddress(line: number, sectors: number): number {
  return line * LINE_BYTES + (31 - Math.clz32(sectors & -sectors)) * SECTOR_BYTES;
}
