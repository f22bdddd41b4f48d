import { isCold } from '../coldKeys.js';
import type { StoreChange, Versioned } from '../store.js';
import { StoreImage } from '../storeImage.js';
import { isSameKept, type Kept, type NumberedChange } from './kept.js';
import type { PendingWrite } from './pendingWrite.js';

/** What a store in Redis holds, at one moment of the order of its changes. */
export interface Snapshot {
  readonly seq: number;
  /** Who made that change; '' where it is the first of its epoch. */
  readonly tip: string;
  readonly entries: ReadonlyMap<string, Kept>;
  /** Cold keys that are among them, if they are there. */
  readonly followed: ReadonlySet<string>;
}

/**
 * What everybody agrees on, up to a change, and over it our own writes that are under way: readers and watchers see the
 * sum. Where a write does not come to pass, what it showed is taken back.
 */
export class OptimisticImage {
  private confirmed = new Map<string, Kept>();
  private readonly pending = new Map<string, PendingWrite[]>();
  /** What the image shows, with its text. */
  private readonly shown = new Map<string, Kept>();
  private readonly image = new StoreImage();
  /** Cold keys that are followed, and the change up to which each is known. */
  private readonly followed = new Map<string, number>();
  /** The last change that is confirmed, and who made it. */
  seq = 0;
  tip = '';

  get(key: string): Versioned | undefined {
    return this.image.get(key);
  }

  list(prefix: string): readonly { readonly key: string; readonly entry: Versioned }[] {
    return this.image.list(prefix);
  }

  watch(prefix: string, listener: (change: StoreChange) => void): () => void {
    return this.image.watch(prefix, listener);
  }

  /** From now on changes of a cold key are taken in. */
  follow(key: string): void {
    this.followed.set(key, 0);
  }

  unfollow(key: string): void {
    this.followed.delete(key);
    this.confirmed.delete(key);
    this.show([key]);
  }

  followedKeys(): string[] {
    return [...this.followed.keys()];
  }

  /** What was there of a cold key after a change, whether or not that one has come here. */
  read(key: string, kept: Kept | undefined, seq: number): void {
    const known = this.followed.get(key);
    if (known === undefined || seq < known) return;
    this.followed.set(key, seq);
    this.confirm(key, kept);
    this.show([key]);
  }

  confirmedEntries(): ReadonlyMap<string, Kept> {
    return this.confirmed;
  }

  confirmedOf(key: string): Versioned | undefined {
    return this.confirmed.get(key)?.entry;
  }

  /** The write whose result readers of a key see, where nobody has confirmed it yet. */
  baseOf(key: string): PendingWrite | undefined {
    let present = this.confirmed.get(key);
    let base: PendingWrite | undefined;
    for (const write of this.pending.get(key) ?? []) {
      const result = write.over(present);
      if (result === undefined) continue;
      present = result.kept;
      base = write.made === undefined ? write : undefined;
    }
    return base;
  }

  add(write: PendingWrite): void {
    const { key } = write;
    const writes = this.pending.get(key);
    if (writes === undefined) this.pending.set(key, [write]);
    else writes.push(write);
    this.show([key]);
  }

  /** A write of ours was made, and followers may not have brought it yet. */
  made(write: PendingWrite, version: number, seq: number): void {
    write.made = { version, seq };
    if (seq <= this.seq) this.drop(write);
    this.show([write.key]);
  }

  /** Writes of ours are refused: what they showed goes, at once of all. */
  remove(writes: readonly PendingWrite[]): void {
    for (const write of writes) {
      write.isGone = true;
      this.drop(write);
    }
    this.show(new Set(writes.map(({ key }) => key)));
  }

  /** The next change of all. `own` is our write that made it. */
  apply({ seq, tip, key, change }: NumberedChange, own: PendingWrite | undefined): void {
    this.seq = seq;
    this.tip = tip;
    if (own !== undefined) own.made = { version: change.version, seq };
    let { kept } = change;
    for (const write of this.pending.get(key) ?? []) {
      if (write.made === undefined || write.made.seq > seq) continue;
      // Our own object stays, since readers have it.
      if (write.made.seq === seq) kept = write.keptAs(change.version);
      this.drop(write);
    }
    const known = isCold(key) ? this.followed.get(key) : 0;
    // Of a cold key that is followed a later change may be known than this one.
    if (known !== undefined && known < seq) {
      if (isCold(key)) this.followed.set(key, seq);
      this.confirm(key, kept);
    }
    this.show([key]);
  }

  /** All anew, after a gap; watchers are told what is different. */
  load({ seq, tip, entries, followed }: Snapshot): void {
    const keys = new Set([...this.confirmed.keys(), ...entries.keys(), ...this.pending.keys()]);
    const former = this.confirmed;
    this.confirmed = new Map();
    for (const [key, kept] of entries) {
      const before = former.get(key);
      this.confirmed.set(key, before !== undefined && isSameKept(before, kept) ? before : kept);
    }
    for (const key of followed) if (this.followed.has(key)) this.followed.set(key, seq);
    this.seq = seq;
    this.tip = tip;
    for (const write of [...this.pending.values()].flat()) {
      if (write.made !== undefined && write.made.seq <= seq) this.drop(write);
    }
    this.show(keys);
  }

  private confirm(key: string, kept: Kept | undefined): void {
    if (kept === undefined) this.confirmed.delete(key);
    else this.confirmed.set(key, kept);
  }

  private drop(write: PendingWrite): void {
    const left = (this.pending.get(write.key) ?? []).filter((one) => one !== write);
    if (left.length === 0) this.pending.delete(write.key);
    else this.pending.set(write.key, left);
  }

  /** Shows what is to be seen of these keys now. */
  private show(keys: Iterable<string>): void {
    const changes = new Map<string, Versioned | undefined>();
    for (const key of keys) {
      let present = this.confirmed.get(key);
      for (const write of this.pending.get(key) ?? []) {
        const result = write.over(present);
        if (result !== undefined) present = result.kept;
      }
      if (isSameKept(this.shown.get(key), present)) continue;
      if (present === undefined) this.shown.delete(key);
      else this.shown.set(key, present);
      changes.set(key, present?.entry);
    }
    if (changes.size > 0) this.image.restore(changes);
  }
}
