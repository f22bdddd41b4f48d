import { elementAt, SmallFloatArray, type ElementArray } from './elementTypes.js';

/** A value as it is reported: a whole number that no JSON number holds is a text of its digits. */
export type ReportedValue = number | string;

/**
 * One reported buffer: sum and elements at some indices. Integers are exact; floats are as many digits as read back equal
 * in the buffer's type, nine of them up to 32 bits.
 */
export interface BufferSummary {
  /** Place in `args` of the argument that holds it, from 0; a module variable has none. */
  readonly arg?: number;
  /** Its name, when it has one: the buffer's own, or the variable's. */
  readonly name?: string;
  readonly sum: ReportedValue;
  readonly samples: Readonly<Record<string, ReportedValue>>;
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
  /** Of 64-bit integers, whose sums a double does not hold. */
  private wideSum: bigint | undefined;
  private isShort = false;
  private seen = 0;
  private readonly samples: Record<string, ReportedValue> = {};

  constructor(
    private readonly subject: Pick<BufferSummary, 'arg' | 'name'>,
    private readonly indices: readonly number[],
  ) {}

  add(piece: ElementArray): void {
    this.isShort = isShort(piece);
    if (piece instanceof BigInt64Array || piece instanceof BigUint64Array) {
      let sum = this.wideSum ?? 0n;
      for (const value of piece) sum += value;
      this.wideSum = sum;
    } else for (let index = 0; index < piece.length; index++) this.sum += elementAt(piece, index);
    for (const index of this.indices) {
      const place = index - this.seen;
      if (place >= 0 && place < piece.length) this.samples[String(index)] = reportedElement(piece, place);
    }
    this.seen += piece.length;
  }

  result(): BufferSummary {
    const sum = this.isShort ? nineDigits(this.sum) : this.sum;
    return {
      ...this.subject,
      sum: this.wideSum === undefined ? sum : reportedWhole(this.wideSum),
      samples: this.samples,
    };
  }
}

function isShort(piece: ElementArray): boolean {
  return piece instanceof Float32Array || piece instanceof SmallFloatArray;
}

function reportedElement(piece: ElementArray, index: number): ReportedValue {
  if (piece instanceof BigInt64Array || piece instanceof BigUint64Array)
    return reportedWhole(piece[index] ?? 0n);
  const value = elementAt(piece, index);
  return isShort(piece) ? nineDigits(value) : value;
}

function reportedWhole(value: bigint): ReportedValue {
  const near = Number(value);
  return Number.isSafeInteger(near) ? near : String(value);
}

/** Whether a reported value is the expected one, which may have been written to nine digits. */
export function isAsReported(expected: ReportedValue, reported: ReportedValue | undefined): boolean {
  if (expected === reported) return true;
  if (typeof expected === 'string') return expected === String(reported);
  return (
    typeof reported === 'number' &&
    !Number.isInteger(reported) &&
    nineDigits(expected) === nineDigits(reported)
  );
}
