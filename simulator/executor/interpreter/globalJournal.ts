import type { AccessJournal, AddressSpace, JournalEntry } from '../types.js';
import type { AccessKind } from './laneInstructions.js';
import type { Location } from './memorySpaces.js';

/** What one run of the interpreter did to global memory, in the order in which it did it. */
export class GlobalJournal implements AccessJournal {
  private readonly entries: JournalEntry[] = [];
  /** Entries from here on have been undone. */
  private kept = 0;

  /** @param executed thread-instructions of the run so far */
  constructor(
    private readonly space: AddressSpace,
    private readonly executed: () => number,
    private readonly tracesLoads = true,
  ) {}

  /** Before the access changes anything. */
  record(
    position: number,
    kind: AccessKind,
    address: number,
    bytes: number,
    instruction: number,
    { view, at }: Location,
  ): void {
    if (kind === 'load' && !this.tracesLoads) return;
    const entry = { position, kind, address, bytes, instruction };
    const old =
      kind === 'load' ? undefined : new Uint8Array(view.buffer, view.byteOffset + at, bytes).slice();
    this.entries.push(old === undefined ? entry : { ...entry, old });
    this.kept = this.entries.length;
  }

  get length(): number {
    return this.entries.length;
  }

  get positions(): number {
    return this.executed();
  }

  at(index: number): JournalEntry {
    const entry = this.entries[index];
    if (entry === undefined)
      throw new RangeError(`no access ${index}: the journal holds ${this.entries.length}`);
    return entry;
  }

  rollBack(position: number): void {
    for (; this.kept > 0; this.kept--) {
      const entry = this.entries[this.kept - 1];
      if (entry === undefined || entry.position < position) return;
      if (entry.old !== undefined) this.space.view(entry.address, entry.bytes).set(entry.old);
    }
  }
}
