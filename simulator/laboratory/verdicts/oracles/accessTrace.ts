import type { AccessJournal } from '../../../executor/testing/index.js';
import type { Arena } from './arena.js';

/** What an access does to the bytes that it names. An atomic reads and then writes them. */
export const ACCESS = { load: 0, store: 1, atomic: 2 } as const;

/**
 * Every access of one run to global memory, in the order in which they happened, in columns. Positions count the
 * thread-instructions of the whole run.
 */
export class AccessTrace {
  readonly count: number;
  readonly position: Float64Array;
  readonly address: Float64Array;
  /** Offset in the arena's image. */
  readonly offset: Int32Array;
  readonly bytes: Uint8Array;
  readonly kind: Uint8Array;
  /** Index of the instruction in the kernel. */
  readonly instruction: Int32Array;
  /** What a store or atomic replaced; undefined for loads. */
  readonly old: readonly (Uint8Array | undefined)[];
  /** Thread-instructions of the run. */
  readonly positions: number;

  /**
   * @param journals of the run's parts, one after another
   * @throws RangeError for an access outside the arena.
   */
  constructor(journals: readonly AccessJournal[], arena: Arena) {
    const count = journals.reduce((sum, { length }) => sum + length, 0);
    this.count = count;
    this.position = new Float64Array(count);
    this.address = new Float64Array(count);
    this.offset = new Int32Array(count);
    this.bytes = new Uint8Array(count);
    this.kind = new Uint8Array(count);
    this.instruction = new Int32Array(count);
    const old = new Array<Uint8Array | undefined>(count);
    let [at, before] = [0, 0];
    for (const journal of journals) {
      for (let index = 0; index < journal.length; index++, at++) {
        const entry = journal.at(index);
        const offset = arena.offsetOf(entry.address, entry.bytes);
        if (offset < 0) throw new RangeError(`an access at ${entry.address} is outside the arena`);
        this.position[at] = before + entry.position;
        this.address[at] = entry.address;
        this.offset[at] = offset;
        this.bytes[at] = entry.bytes;
        this.kind[at] = ACCESS[entry.kind];
        this.instruction[at] = entry.instruction;
        old[at] = entry.old;
      }
      before += journal.positions;
    }
    this.old = old;
    this.positions = before;
  }
}
