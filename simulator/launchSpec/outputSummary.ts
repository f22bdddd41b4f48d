import type { ElementArray } from './elementTypes.js';

/** One reported buffer: sum in double precision, and elements at some indices, both to nine digits. */
export interface BufferSummary {
  /** Place in `args`, from 0. */
  readonly arg: number;
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
    private readonly arg: number,
    private readonly indices: readonly number[],
  ) {}

  add(piece: ElementArray): void {
    for (let index = 0; index < piece.length; index++) this.sum += Number(piece[index]);
    for (const index of this.indices) {
      const place = index - this.seen;
      if (place >= 0 && place < piece.length) this.samples[String(index)] = nineDigits(Number(piece[place]));
    }
    this.seen += piece.length;
  }

  result(): BufferSummary {
    return { arg: this.arg, sum: nineDigits(this.sum), samples: this.samples };
  }
}
