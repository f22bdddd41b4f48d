/** Doubles as their bits, so that a NaN's payload goes through arithmetic as a card takes it. */
const double = new Float64Array(1);
const word = new BigUint64Array(double.buffer);

/** Bits of the NaN that an f64 operation gives whose operands are numbers. */
export const canonicalNan64 = 0xfff8000000000000n;

const magnitudeBits = (1n << 63n) - 1n;
const infinityBits = 0x7ff0000000000000n;

export function doubleOf(bits: bigint): number {
  word[0] = bits;
  return double[0] ?? 0;
}

/** Bits of a double; of a NaN, those of the canonical one. */
export function bitsOfDouble(value: number): bigint {
  if (value !== value) return canonicalNan64;
  double[0] = value;
  return word[0] ?? 0n;
}

export function isNan64(bits: bigint): boolean {
  return (bits & magnitudeBits) > infinityBits;
}

/** A NaN as arithmetic passes it on. */
export function quiet64(bits: bigint): bigint {
  return bits | (1n << 51n);
}

/**
 * An f64 operation over bits. A card gives back the first operand, in `order`, that is a NaN, quieted, and the canonical
 * NaN when no operand is one.
 */
export function overDoubles(
  apply: (a: number, b: number, c: number) => number,
  order: readonly (0 | 1 | 2)[],
): (...values: bigint[]) => bigint {
  return (a = 0n, b = 0n, c = 0n) => {
    const result = apply(doubleOf(a), doubleOf(b), doubleOf(c));
    if (result === result) return bitsOfDouble(result);
    const operands = [a, b, c];
    for (const index of order) {
      const operand = operands[index] ?? 0n;
      if (isNan64(operand)) return quiet64(operand);
    }
    return canonicalNan64;
  };
}
