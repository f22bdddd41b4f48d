import { type ElementType, type FloatFormat, type TileForm, floatFormat } from '../../../tensor/index.js';

/** Bits as they are stored, for what no number says: NaN, and low bits of a tf32. */
export interface StoredBits {
  readonly bits: bigint;
}

export type ProbeValue = number | StoredBits;

/** One dot product that decides something: factors by place along k, and the accumulator. */
export interface DotProbe {
  /** What it decides, as the README names it. */
  readonly decides: string;
  readonly a: readonly ProbeValue[];
  readonly b: readonly ProbeValue[];
  readonly c: ProbeValue;
}

/** Exponents of a type's powers of two. */
interface Range {
  readonly lowest: number;
  readonly smallest: number;
  readonly highest: number;
}

function rangeOf({ bias, fractionBits, hasInfinity }: FloatFormat): Range {
  return {
    lowest: 1 - bias,
    smallest: 1 - bias - fractionBits,
    highest: hasInfinity ? bias : bias + 1,
  };
}

/** Writes the probes of one form: what its types can hold decides which. */
export class ProbeWriter {
  readonly probes: DotProbe[] = [];
  readonly count: number;
  readonly a: Range;
  readonly b: Range;
  readonly c: Range;
  readonly resultBits: number;
  /** Exponents of the largest product that a result holds too, and of one so small that no sum with it keeps it. */
  readonly big: number;
  readonly unit: number;

  constructor(readonly form: TileForm) {
    const [a, b, c] = [form.a, form.b, form.c].map(({ type }) => formatOf(type));
    if (a === undefined || b === undefined || c === undefined) throw new RangeError('a form of integers');
    this.count = form.a.columns;
    this.a = rangeOf(a);
    this.b = rangeOf(b);
    this.c = rangeOf(c);
    const result = formatOf(form.d.type);
    this.resultBits = result.fractionBits;
    const limit = form.d.type === 'f16' || form.c.type === 'f16' ? 14 : 60;
    this.big = Math.min(this.a.highest + this.b.highest, limit);
    this.unit = Math.max(
      this.big - (form.d.type === 'f64' ? 70 : 45),
      this.a.smallest + this.b.lowest,
      -20 - (form.d.type === 'f16' ? 0 : 80),
    );
  }

  /** A probe of products 2^exponent · sign · significand² at places; other factors are +0. */
  powers(
    decides: string,
    terms: readonly (readonly [place: number, exponent: number, sign: 1 | -1])[],
    c: ProbeValue = 0,
  ): void {
    const a: ProbeValue[] = Array.from({ length: this.count }, () => 0);
    const b = [...a];
    for (const [place, exponent, sign] of terms) {
      const [left, right] = this.split(exponent);
      a[place] = sign * 2 ** left;
      b[place] = 2 ** right;
    }
    this.probes.push({ decides, a, b, c });
  }

  /** A probe of factors at places. */
  factors(
    decides: string,
    terms: readonly (readonly [place: number, left: ProbeValue, right: ProbeValue])[],
    c: ProbeValue = 0,
  ): void {
    const a: ProbeValue[] = Array.from({ length: this.count }, () => 0);
    const b = [...a];
    for (const [place, left, right] of terms) {
      a[place] = left;
      b[place] = right;
    }
    this.probes.push({ decides, a, b, c });
  }

  /** Whether two factors have a product 2^exponent. */
  isProduct(exponent: number): boolean {
    return exponent >= this.a.smallest + this.b.lowest && exponent <= this.a.highest + this.b.highest;
  }

  isAccumulator(exponent: number): boolean {
    return exponent >= this.c.smallest && exponent <= this.c.highest;
  }

  /** Exponents of two factors, both as near to the middle as their types allow. */
  private split(exponent: number): readonly [number, number] {
    const right = Math.max(this.b.lowest, Math.min(this.b.highest, Math.ceil(exponent / 2)));
    const left = Math.min(this.a.highest, exponent - right);
    return [left, exponent - left];
  }
}

function formatOf(type: ElementType): FloatFormat {
  const format = floatFormat(type);
  if (format === undefined) throw new RangeError(`${type} is no float`);
  return format;
}
