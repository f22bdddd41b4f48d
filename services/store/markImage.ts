import { StoreError } from './storeError.js';

/** How long a mark is remembered at least. */
export const MARK_KEPT_MS = 24 * 60 * 60 * 1000;

/** Marks are forgotten by generations, so that nobody looks for what is too old. */
const GENERATION_MS = MARK_KEPT_MS / 2;
/** The present one, and so many before it. */
const FORMER_GENERATIONS = 2;

export const MOST_MARK_BYTES = 512;
const HALF_OF_A_PAIR = /\p{Surrogate}/u;

/**
 * Refuses what no store could keep as a mark.
 * @throws StoreError `invalidKey`
 */
export function checkMarks(marks: readonly string[]): void {
  for (const mark of marks) {
    if (mark !== '' && !HALF_OF_A_PAIR.test(mark) && Buffer.byteLength(mark) <= MOST_MARK_BYTES) continue;
    throw new StoreError(
      'invalidKey',
      `a mark is well-formed text of 1 to ${MOST_MARK_BYTES} bytes, not '${mark.slice(0, 60)}'`,
    );
  }
}

/** The marks of the last 24 to 36 hours. */
export class MarkImage {
  private readonly generations = new Map<number, Set<string>>();

  constructor(private readonly nowMs: () => number = Date.now) {}

  /** Of these marks those that are there, each once. */
  there(marks: readonly string[]): string[] {
    const found = new Set<string>();
    for (const generation of this.generations.values()) {
      for (const mark of marks) if (generation.has(mark)) found.add(mark);
    }
    return [...found];
  }

  /** The generation of marks that are made now. */
  get present(): number {
    return Math.floor(this.nowMs() / GENERATION_MS);
  }

  /** Marks of earlier generations are forgotten. */
  get oldest(): number {
    return this.present - FORMER_GENERATIONS;
  }

  add(marks: readonly string[], generation = this.present): void {
    if (marks.length === 0 || generation < this.oldest) return;
    let set = this.generations.get(generation);
    if (set === undefined) {
      set = new Set();
      this.generations.set(generation, set);
      for (const former of [...this.generations.keys()]) {
        if (former < this.oldest) this.generations.delete(former);
      }
    }
    for (const mark of marks) set.add(mark);
  }

  remove(marks: Iterable<string>): void {
    for (const mark of marks) {
      for (const generation of this.generations.values()) generation.delete(mark);
    }
  }
}
