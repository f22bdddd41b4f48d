import type { MachineOp, Place } from './machineOp.js';
import type { Value } from './value.js';

interface Access {
  readonly index: number;
  readonly place: Place | undefined;
  /** The value that the place begins at. */
  readonly base: Value | undefined;
}

/** Accesses of one kind that later ones are held against; with more of them, the earliest are forgotten. */
const REMEMBERED = 256;

/** Which earlier operations on memory one must not pass. */
export class MemoryChain {
  private readonly writes = new Map<string, Access[]>();
  private readonly reads = new Map<string, Access[]>();
  private fence = -1;
  private sinceFence: number[] = [];

  /** Takes the next operation in. @returns those that must go before it */
  before(op: MachineOp, index: number, place: Place | undefined, base: Value | undefined): number[] {
    if (op.order === 'none') return [];
    const found = this.fence < 0 ? [] : [this.fence];
    if (op.order === 'fence') {
      found.push(...this.sinceFence);
      this.writes.clear();
      this.reads.clear();
      this.sinceFence = [];
      this.fence = index;
      return found;
    }
    this.sinceFence.push(index);
    const access = { index, place, base };
    const writes = of(this.writes, op.space);
    const reads = of(this.reads, op.space);
    for (const earlier of writes) if (mayMeet(earlier, access)) found.push(earlier.index);
    if (op.order === 'write')
      for (const earlier of reads) if (mayMeet(earlier, access)) found.push(earlier.index);
    const accesses = op.order === 'write' ? writes : reads;
    accesses.push(access);
    if (accesses.length > REMEMBERED) accesses.shift();
    return found;
  }
}

function of(accesses: Map<string, Access[]>, space: string): Access[] {
  let found = accesses.get(space);
  if (found === undefined) {
    found = [];
    accesses.set(space, found);
  }
  return found;
}

/** Two accesses from one value, or one name, at distances that do not overlap keep apart. */
function mayMeet(a: Access, b: Access): boolean {
  if (a.place === undefined || b.place === undefined) return true;
  const isSameBase =
    a.base === b.base &&
    (a.base !== undefined || (a.place.base !== undefined && a.place.base === b.place.base));
  if (!isSameBase) return true;
  return a.place.offset < b.place.offset + b.place.bytes && b.place.offset < a.place.offset + a.place.bytes;
}
