import { elementAt, SmallFloatArray, type ElementArray, type ElementType } from './elementTypes.js';
import { smallFloatBits, smallFloatValue } from './smallFloats.js';

/** A value as it is reported: what no JSON number holds is a text, of digits or one of `NaN`, `Infinity` and `-Infinity`. */
export type ReportedValue = number | string;

/**
 * One reported buffer: sum and elements at some indices. Integers are exact, and so is their sum; floats are the
 * shortest decimals that read back equal in the buffer's type, and their sum, taken in double precision, as a double.
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

/** As C's `%.9g` prints it: what expectations are often written to. */
function nineDigits(value: number): number {
  return Number.isFinite(value) ? Number(value.toPrecision(9)) : value;
}

type ShortType = 'f32' | 'f16' | 'bf16';

/** Digits that tell any two float32 apart, which have the most of these. */
const SHORT_DIGITS = 9;

function asShort(type: ShortType, value: number): number {
  return type === 'f32' ? Math.fround(value) : smallFloatValue(type, smallFloatBits(type, value));
}

/** The number of fewest digits that the type holds as `value`, which is one of its own. */
function shortest(type: ShortType, value: number): number {
  if (!Number.isFinite(value) || value === 0) return value;
  for (let digits = 1; digits < SHORT_DIGITS; digits++) {
    const found = Number(value.toPrecision(digits));
    if (asShort(type, found) === value) return found;
  }
  return nineDigits(value);
}

/** Gathers a buffer's summary as its elements come in, piece by piece. */
export class OutputSummary {
  private sum = 0;
  /** Of integers, whose sums a double need not hold. */
  private wholeSum: bigint | undefined;
  private seen = 0;
  private readonly samples: Record<string, ReportedValue> = {};

  constructor(
    private readonly subject: Pick<BufferSummary, 'arg' | 'name'>,
    private readonly indices: readonly number[],
  ) {}

  add(piece: ElementArray): void {
    if (isFloat(piece))
      for (let index = 0; index < piece.length; index++) this.sum += elementAt(piece, index);
    else this.wholeSum = (this.wholeSum ?? 0n) + wholeSumOf(piece);
    for (const index of this.indices) {
      const place = index - this.seen;
      if (place >= 0 && place < piece.length) this.samples[String(index)] = reportedElement(piece, place);
    }
    this.seen += piece.length;
  }

  result(): BufferSummary {
    return {
      ...this.subject,
      sum: this.wholeSum === undefined ? reportedFloat(this.sum) : reportedWhole(this.wholeSum),
      samples: this.samples,
    };
  }
}

type FloatArray = Float32Array | Float64Array | SmallFloatArray;

function isFloat(piece: ElementArray): piece is FloatArray {
  return piece instanceof Float64Array || isShort(piece);
}

function isShort(piece: ElementArray): boolean {
  return piece instanceof Float32Array || piece instanceof SmallFloatArray;
}

/** Of so many integers of 32 bits the sum is exact as a number. */
const EXACT_RUN = 2 ** 20;

function wholeSumOf(piece: Exclude<ElementArray, FloatArray>): bigint {
  let sum = 0n;
  if (piece instanceof BigInt64Array || piece instanceof BigUint64Array) {
    for (const value of piece) sum += value;
    return sum;
  }
  for (let from = 0; from < piece.length; from += EXACT_RUN) {
    let run = 0;
    for (let index = from; index < Math.min(piece.length, from + EXACT_RUN); index++)
      run += piece[index] ?? 0;
    sum += BigInt(run);
  }
  return sum;
}

function reportedElement(piece: ElementArray, index: number): ReportedValue {
  if (piece instanceof BigInt64Array || piece instanceof BigUint64Array)
    return reportedWhole(piece[index] ?? 0n);
  const value = elementAt(piece, index);
  if (piece instanceof Float32Array) return reportedFloat(shortest('f32', value));
  return reportedFloat(piece instanceof SmallFloatArray ? shortest(piece.type, value) : value);
}

function reportedFloat(value: number): ReportedValue {
  return Number.isFinite(value) ? value : String(value);
}

function reportedWhole(value: bigint): ReportedValue {
  const near = Number(value);
  return Number.isSafeInteger(near) ? near : String(value);
}

/**
 * Whether a reported value is the expected one, which may have been written to nine digits, or as any other number that
 * the buffer's type holds as the reported one.
 */
export function isAsReported(
  expected: ReportedValue,
  reported: ReportedValue | undefined,
  type: ElementType,
): boolean {
  if (expected === reported) return true;
  if (typeof reported !== 'number') return String(expected) === reported;
  // Digits beyond what a number of JSON holds are of an integer where that is what was reported.
  if (typeof expected === 'string') return !Number.isSafeInteger(reported) && Number(expected) === reported;
  if (!Number.isInteger(reported) && nineDigits(expected) === nineDigits(reported)) return true;
  return isShortType(type) && asShort(type, expected) === asShort(type, reported);
}

function isShortType(type: ElementType): type is ShortType {
  return type === 'f32' || type === 'f16' || type === 'bf16';
}
