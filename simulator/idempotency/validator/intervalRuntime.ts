import { MOST } from './exactNumbers.js';

const TWO_32 = 2 ** 32;

/**
 * Operators of the generated code that are too long to stand in it. They take the ends of their operands from `given` (a in
 * 0 and 1, b in 2 and 3) and leave those of the result in `found`: numbers that pass through typed arrays are never boxed. An
 * end without a bound is infinite; any other is a safe integer.
 */
export class IntervalRuntime {
  constructor(
    private readonly given: Float64Array,
    private readonly found: Float64Array,
  ) {}

  readonly product = (): void => {
    const { al, ah, bl, bh } = this;
    if ((al === 0 && ah === 0) || (bl === 0 && bh === 0)) this.give(0, 0);
    else if (al > -Infinity && ah < Infinity && bl > -Infinity && bh < Infinity) {
      this.corners(al * bl, al * bh, ah * bl, ah * bh);
    } else if (al >= 0 && bl >= 0) {
      this.give(al * bl, ah === Infinity || bh === Infinity ? Infinity : ah * bh);
    } else this.giveAll();
  };

  readonly power = (): void => {
    const { al, ah } = this;
    if (al >= 0 && ah <= 52) this.give(2 ** al, 2 ** ah);
    else this.giveAll();
  };

  readonly floorQuotient = (): void => this.quotient(floored);
  readonly zeroQuotient = (): void => this.quotient(truncated);

  readonly exactQuotient = (): void => {
    const { al, ah, bl, bh } = this;
    if (al !== ah || bl !== bh) this.giveAll();
    else if (bl === 0 || al % bl !== 0 || al / bl < 0) this.giveAll();
    else this.give(al / bl, al / bl);
  };

  /** Of a dividend that is a multiple of the divisor at every point. */
  readonly dividingQuotient = (): void => {
    const { al, ah, bl, bh } = this;
    if (al === ah && bl === bh) this.exactQuotient();
    else if ((al >= 0 && bl > 0) || (ah <= 0 && bh < 0)) this.quotient(floored);
    else this.giveAll();
  };

  readonly floorRemainder = (): void => this.remainder(floored, true);
  readonly zeroRemainder = (): void => this.remainder(truncated, false);

  readonly and8 = (): void => this.bitwise('and', 8);
  readonly and16 = (): void => this.bitwise('and', 16);
  readonly and32 = (): void => this.bitwise('and', 32);
  readonly and64 = (): void => this.bitwise('and', 64);
  readonly or8 = (): void => this.bitwise('or', 8);
  readonly or16 = (): void => this.bitwise('or', 16);
  readonly or32 = (): void => this.bitwise('or', 32);
  readonly or64 = (): void => this.bitwise('or', 64);
  readonly xor8 = (): void => this.bitwise('xor', 8);
  readonly xor16 = (): void => this.bitwise('xor', 16);
  readonly xor32 = (): void => this.bitwise('xor', 32);
  readonly xor64 = (): void => this.bitwise('xor', 64);

  private get al(): number {
    return this.given[0] ?? 0;
  }

  private get ah(): number {
    return this.given[1] ?? 0;
  }

  private get bl(): number {
    return this.given[2] ?? 0;
  }

  private get bh(): number {
    return this.given[3] ?? 0;
  }

  private give(lo: number, hi: number): void {
    const isWild = isBeyond(lo) || isBeyond(hi);
    this.found[0] = isWild ? -Infinity : lo;
    this.found[1] = isWild ? Infinity : hi;
  }

  private giveAll(): void {
    this.found[0] = -Infinity;
    this.found[1] = Infinity;
  }

  private corners(a: number, b: number, c: number, d: number): void {
    this.give(Math.min(a, b, c, d), Math.max(a, b, c, d));
  }

  private quotient(divide: (a: number, b: number) => number): void {
    const { al, ah, bl, bh } = this;
    const isBounded = bl > -Infinity && bh < Infinity;
    if (!isBounded || (bl <= 0 && bh >= 0)) this.giveAll();
    else if (al > -Infinity && ah < Infinity) {
      this.corners(divide(al, bl), divide(al, bh), divide(ah, bl), divide(ah, bh));
    } else if (bl < 0) this.giveAll();
    else {
      this.give(
        al === -Infinity ? al : divide(al, al < 0 ? bl : bh),
        ah === Infinity ? ah : divide(ah, ah < 0 ? bh : bl),
      );
    }
  }

  private remainder(divide: (a: number, b: number) => number, isFloor: boolean): void {
    const { al, ah, bl, bh } = this;
    if (!(bl > 0)) {
      this.giveAll();
      return;
    }
    if (bl === bh && al > -Infinity && ah < Infinity) {
      const quotient = divide(al, bl);
      if (quotient === divide(ah, bl)) {
        this.give(al - bl * quotient, ah - bl * quotient);
        return;
      }
    }
    const most = bh - 1;
    if (al >= 0) this.give(0, Math.min(ah, most));
    else if (isFloor) this.give(0, most);
    else this.give(Math.max(al, -most), Math.min(Math.max(ah, 0), most));
  }

  private bitwise(operation: 'and' | 'or' | 'xor', bits: 8 | 16 | 32 | 64): void {
    const { al, ah, bl, bh } = this;
    if (al === ah && bl === bh) {
      const value = bitsOf(operation, al, bl, bits);
      this.give(value, value);
      return;
    }
    const least = bits === 64 ? -Infinity : -(2 ** (bits - 1));
    const most = bits === 64 ? MOST : 2 ** (bits - 1) - 1;
    const isPlainA = al >= 0 && ah <= most;
    const isPlainB = bl >= 0 && bh <= most;
    if (operation === 'and' && (isPlainA || isPlainB)) {
      this.give(0, Math.min(isPlainA ? ah : Infinity, isPlainB ? bh : Infinity));
    } else if (operation === 'and' || !isPlainA || !isPlainB) {
      this.give(least, bits === 64 ? Infinity : most);
    } else this.give(operation === 'or' ? Math.max(al, bl) : 0, coverOf(Math.max(ah, bh)));
  }
}

/** a & b, a | b or a ^ b of two safe integers, as a signed integer of so many bits. */
export function bitsOf(
  operation: 'and' | 'or' | 'xor',
  a: number,
  b: number,
  bits: 8 | 16 | 32 | 64,
): number {
  const low = bits32(operation, a | 0, b | 0);
  if (bits === 64) {
    const high = bits32(operation, Math.floor(a / TWO_32) | 0, Math.floor(b / TWO_32) | 0);
    return high * TWO_32 + (low >>> 0);
  }
  return bits === 32 ? low : (low << (32 - bits)) >> (32 - bits);
}

function bits32(operation: 'and' | 'or' | 'xor', a: number, b: number): number {
  if (operation === 'and') return a & b;
  return operation === 'or' ? a | b : a ^ b;
}

/** The least 2^k − 1 that is not below a whole number ≥ 0. */
function coverOf(value: number): number {
  let cover = 1;
  while (cover <= value) cover *= 2;
  return cover - 1;
}

function isBeyond(end: number): boolean {
  return (end > MOST && end !== Infinity) || (end < -MOST && end !== -Infinity);
}

/** Rounded down; exact for safe integers, where the quotient in floating point may round up to the next whole one. */
export function floored(a: number, b: number): number {
  const quotient = Math.floor(a / b);
  const rest = a - quotient * b;
  if (b > 0 ? rest < 0 : rest > 0) return quotient - 1;
  return (b > 0 ? rest >= b : rest <= b) ? quotient + 1 : quotient;
}

export function truncated(a: number, b: number): number {
  const quotient = Math.trunc(a / b);
  if (Math.abs(quotient * b) <= Math.abs(a)) return quotient;
  return quotient > 0 ? quotient - 1 : quotient + 1;
}
