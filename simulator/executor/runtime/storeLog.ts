import type { AccessJournal, AddressSpace, StoreLog } from '../types.js';

/**
 * Undoes every store at a position ≥ `position`, last first; those before stay, as when the run had been stopped there. Memory
 * that has been unmapped since is left alone.
 */
export function takeBackStores(space: AddressSpace, log: StoreLog, position: number): void {
  const { at, addresses, ends, old } = log;
  for (let index = at.length - 1; index >= 0 && at[index] >= position; index--) {
    const from = index === 0 ? 0 : ends[index - 1];
    const bytes = ends[index] - from;
    const address = addresses[index];
    const segment = space.find(address);
    if (segment === undefined || address + bytes > segment.virtualAddress + segment.bytes) continue;
    space.view(address, bytes).set(old.subarray(from, ends[index]));
  }
}

/**
 * Has the last byte that was stored before `position` be wrong in one bit; where nothing was stored, nothing is wrong. @param bit 0 to 7
 */
export function flipLastStored(
  space: AddressSpace,
  { at, addresses }: StoreLog,
  position: number,
  bit: number,
): void {
  let last = at.length - 1;
  while (last >= 0 && at[last] >= position) last--;
  if (last < 0 || space.find(addresses[last]) === undefined) return;
  space.view(addresses[last], 1)[0] ^= 1 << bit;
}

/** Collects a log in buffers that grow. */
export class StoreLogWriter {
  private at = new Float64Array(64);
  private addresses = new Float64Array(64);
  private ends = new Uint32Array(64);
  private old = new Uint8Array(256);
  private count = 0;
  private bytes = 0;

  constructor(private readonly positions: number) {}

  add(position: number, address: number, old: Uint8Array): void {
    this.reserve(old.length);
    this.old.set(old, this.bytes);
    this.bytes += old.length;
    this.at[this.count] = position;
    this.addresses[this.count] = address;
    this.ends[this.count] = this.bytes;
    this.count += 1;
  }

  finish(): StoreLog {
    const { positions, count, bytes } = this;
    return {
      positions,
      at: this.at.slice(0, count),
      addresses: this.addresses.slice(0, count),
      ends: this.ends.slice(0, count),
      old: this.old.slice(0, bytes),
    };
  }

  private reserve(bytes: number): void {
    if (this.count === this.at.length) {
      const more = 2 * this.count;
      this.at = grown(this.at, new Float64Array(more));
      this.addresses = grown(this.addresses, new Float64Array(more));
      this.ends = grown(this.ends, new Uint32Array(more));
    }
    if (this.bytes + bytes > this.old.length) {
      this.old = grown(this.old, new Uint8Array(2 * (this.bytes + bytes)));
    }
  }
}

function grown<T extends Float64Array | Uint32Array | Uint8Array>(from: T, into: T): T {
  into.set(from);
  return into;
}

/** What a journal would undo, as plain data. */
export function storesOf(journal: AccessJournal): StoreLog {
  if (journal.stores !== undefined) return journal.stores();
  const log = new StoreLogWriter(journal.positions);
  for (let index = 0; index < journal.length; index++) {
    const { position, address, old } = journal.at(index);
    if (old !== undefined) log.add(position, address, old);
  }
  return log.finish();
}
