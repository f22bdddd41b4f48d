import { JOURNAL_WHAT, AREA, JOURNAL_ENTRY, RECORD } from '../compiler/index.js';
import type { AccessJournal, AddressSpace, JournalEntry, StoreLog } from '../types.js';
import type { LaunchArea } from './launchArea.js';
import { StoreLogWriter } from './storeLog.js';

interface Chunk {
  /** Index of the first entry. */
  readonly first: number;
  readonly count: number;
  readonly entries: DataView;
  readonly old: Uint8Array;
}

/** The journal of one run: compiled code fills a buffer in the node's memory, which is taken out whenever it is full. */
export class RunJournal implements AccessJournal {
  private readonly chunks: Chunk[] = [];
  private taken = 0;
  private executed = 0;
  /** Stores at or behind this position are undone. */
  private undoneFrom = Infinity;

  constructor(private readonly space: AddressSpace) {}

  get length(): number {
    return this.taken;
  }

  get positions(): number {
    return this.executed;
  }

  /** Takes what compiled code has written since the last time and empties its buffer. */
  take(area: LaunchArea): void {
    const end = area.get(RECORD.journalNext);
    const oldEnd = area.get(RECORD.journalOldNext);
    area.set(RECORD.journalNext, AREA.journal);
    area.set(RECORD.journalOldNext, AREA.journalOld);
    if (end <= AREA.journal) return;
    const entries = area.copy(AREA.journal, end);
    const count = entries.length / JOURNAL_ENTRY.bytes;
    this.chunks.push({
      first: this.taken,
      count,
      entries: new DataView(entries.buffer),
      old: area.copy(AREA.journalOld, oldEnd),
    });
    this.taken += count;
  }

  /** After the run: takes the rest, and how many thread-instructions there were. */
  finish(area: LaunchArea): void {
    this.take(area);
    this.executed = area.wide(RECORD.position);
  }

  at(index: number): JournalEntry {
    const chunk = this.chunkOf(index);
    if (chunk === undefined)
      throw new RangeError(
        `journal entry ${index} of ${this.taken}: give an index from 0 to ${this.taken - 1}`,
      );
    const base = (index - chunk.first) * JOURNAL_ENTRY.bytes;
    const what = chunk.entries.getInt32(base + JOURNAL_ENTRY.what, true);
    const bytes = what & JOURNAL_WHAT.bytesMask;
    const old = chunk.entries.getInt32(base + JOURNAL_ENTRY.old, true) - AREA.journalOld;
    return {
      position: wide(chunk.entries, base + JOURNAL_ENTRY.position),
      kind: JOURNAL_WHAT.kinds[(what >>> JOURNAL_WHAT.kindShift) & 3] ?? 'load',
      address: wide(chunk.entries, base + JOURNAL_ENTRY.address),
      bytes,
      instruction: what >>> JOURNAL_WHAT.instructionShift,
      ...(old < 0 ? {} : { old: chunk.old.slice(old, old + bytes) }),
    };
  }

  /** Memory that has been unmapped since is left alone. */
  rollBack(position: number): void {
    for (let which = this.chunks.length - 1; which >= 0; which--) {
      const chunk = this.chunks[which];
      if (chunk === undefined) return;
      for (let index = chunk.count - 1; index >= 0; index--) {
        const base = index * JOURNAL_ENTRY.bytes;
        const at = wide(chunk.entries, base + JOURNAL_ENTRY.position);
        if (at < position) {
          this.undoneFrom = Math.min(this.undoneFrom, position);
          return;
        }
        if (at < this.undoneFrom) this.restore(chunk, base);
      }
    }
    this.undoneFrom = Math.min(this.undoneFrom, position);
  }

  private restore(chunk: Chunk, base: number): void {
    const old = chunk.entries.getInt32(base + JOURNAL_ENTRY.old, true) - AREA.journalOld;
    if (old < 0) return;
    const bytes = chunk.entries.getInt32(base + JOURNAL_ENTRY.what, true) & JOURNAL_WHAT.bytesMask;
    const address = wide(chunk.entries, base + JOURNAL_ENTRY.address);
    const segment = this.space.find(address);
    if (segment === undefined || address + bytes > segment.virtualAddress + segment.bytes) return;
    this.space.view(address, bytes).set(chunk.old.subarray(old, old + bytes));
  }

  /** Its stores and atomics that are not undone, as plain data that can undo them later. */
  stores(): StoreLog {
    const log = new StoreLogWriter(this.executed);
    for (const { entries, count, old } of this.chunks) {
      for (let index = 0; index < count; index++) {
        const base = index * JOURNAL_ENTRY.bytes;
        const from = entries.getInt32(base + JOURNAL_ENTRY.old, true) - AREA.journalOld;
        if (from < 0) continue;
        const position = wide(entries, base + JOURNAL_ENTRY.position);
        if (position >= this.undoneFrom) continue;
        const bytes = entries.getInt32(base + JOURNAL_ENTRY.what, true) & JOURNAL_WHAT.bytesMask;
        log.add(position, wide(entries, base + JOURNAL_ENTRY.address), old.subarray(from, from + bytes));
      }
    }
    return log.finish();
  }

  private chunkOf(index: number): Chunk | undefined {
    if (!(index >= 0 && index < this.taken)) return undefined;
    let [low, high] = [0, this.chunks.length];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((this.chunks[middle]?.first ?? 0) <= index) low = middle;
      else high = middle;
    }
    return this.chunks[low];
  }
}

function wide(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}
