import type { AccessKind } from '../executor/index.js';
import type { Moment } from './threadOrder.js';

/** An access as the shadow remembers it. */
export interface PastAccess extends Moment {
  readonly pc: number;
  readonly kind: AccessKind;
  /** Atomic, or marked so that it may meet others of its sort without a race. */
  readonly isStrong: boolean;
  readonly address: number;
  readonly bytes: number;
  /** Lanes that access memory at one instruction at once have the same. */
  readonly step: number;
}

interface Marked {
  readonly access: PastAccess;
  /** Bytes of the word, a bit each. */
  readonly mask: number;
}

/** Who has accessed the four bytes of a word, as far as a later access could still race with them. */
export class ShadowWord {
  /** Epoch of a block whose accesses these are, where older ones need not be kept. */
  epoch = 0;
  writes: Marked[] = [];
  readonly strong = new Map<number, Marked>();
  readonly reads = new Map<number, Marked>();

  clear(epoch: number): void {
    this.epoch = epoch;
    this.writes.length = 0;
    this.strong.clear();
    this.reads.clear();
  }

  /** Calls `visit` with each access that conflicts with this one: another's, one of both a write, not both strong. */
  forEachConflict(access: PastAccess, mask: number, visit: (past: PastAccess, mask: number) => void): void {
    for (const past of this.writes) if ((past.mask & mask) !== 0) visit(past.access, past.mask & mask);
    if (!access.isStrong) {
      for (const past of this.strong.values())
        if ((past.mask & mask) !== 0) visit(past.access, past.mask & mask);
    }
    if (access.kind === 'load') return;
    for (const past of this.reads.values()) {
      if ((past.mask & mask) === 0 || (access.isStrong && past.access.isStrong)) continue;
      visit(past.access, past.mask & mask);
    }
  }

  /** Remembers an access whose conflicts have been told; `mostReaders` bounds the readers kept. */
  add(access: PastAccess, mask: number, mostReaders: number): void {
    const marked = { access, mask };
    // A thread's wider access may not hide a narrower one of other bytes.
    const key = (access.block * 1024 + access.thread) * 16 + mask;
    if (access.kind === 'load') {
      if (this.reads.size < mostReaders || this.reads.has(key)) this.reads.set(key, marked);
    } else if (access.isStrong) this.strong.set(key, marked);
    else {
      // Whatever was there is before this write, or has been reported against it.
      this.writes = this.writes.filter((past) => (past.mask & ~mask) !== 0);
      this.writes.push(marked);
      forget(this.strong, mask);
      forget(this.reads, mask);
    }
  }
}

function forget(accesses: Map<number, Marked>, mask: number): void {
  for (const [key, past] of accesses) if ((past.mask & ~mask) === 0) accesses.delete(key);
}

/** Calls `visit` for each word that an access touches, with the mask of its bytes there. */
export function forEachWord(
  address: number,
  bytes: number,
  visit: (word: number, mask: number) => void,
): void {
  const first = Math.floor(address / 4);
  const last = Math.floor((address + bytes - 1) / 4);
  for (let word = first; word <= last; word++) {
    const from = Math.max(address - word * 4, 0);
    const to = Math.min(address + bytes - word * 4, 4);
    visit(word, ((1 << to) - 1) & ~((1 << from) - 1));
  }
}
