import { elementAt, type ElementArray } from './elementTypes.js';

/** One reported buffer: sum in double precision, and elements at some indices, both to nine digits. */
export interface BufferSummary {
  /** Place in `args` of the argument that holds it, from 0; a module variable has none. */
  readonly arg?: number;
  /** Its name, when it has one: the buffer's own, or the variable's. */
  readonly name?: string;
  readonly sum: number;
  readonly samples: Readonly<Record<string, number>>;
}

/** Six indices from the first element to the last, evenly spread. */
export function sampleIndices(count: number): number[] {
  return [...new Set([0, 1, 2, 3, 4, 5].map((step) => Math.floor((step * (count - 1)) / 5)))];
}

/** As C's `%.9g` prints it; exact for a float32. */
export function nineDigits(value: number): number {
  return Number.isFinite(value) ? Number(value.toPrecision(9)) : value;
}

/** Gathers a buffer's summary as its elements come in, piece by piece. */
export class OutputSummary {
  private sum = 0;
  private seen = 0;
  private readonly samples: Record<string, number> = {};

  constructor(
    private readonly subject: Pick<BufferSummary, 'arg' | 'name'>,
    private readonly indices: readonly number[],
  ) {}

  add(piece: ElementArray): void {
    for (let index = 0; index < piece.length; index++) this.sum += elementAt(piece, index);
    for (const index of this.indices) {
      const place = index - this.seen;
      if (place >= 0 && place < piece.length)
        this.samples[String(index)] = nineDigits(elementAt(piece, place));
    }
    this.seen += piece.length;
  }

  result(): BufferSummary {
    return { ...this.subject, sum: nineDigits(this.sum), samples: this.samples };
  }
}
