/** A literal as its bits: integers as two's complement of 64 bits, floats as the bits of their own width. */
export type Literal =
  | { readonly kind: 'integer'; readonly low: number; readonly high: number }
  | { readonly kind: 'float'; readonly width: 32 | 64; readonly low: number; readonly high: number };

const scratch = new DataView(new ArrayBuffer(8));

export function integerLiteral(value: bigint): Literal {
  scratch.setBigInt64(0, BigInt.asIntN(64, value));
  return { kind: 'integer', low: scratch.getInt32(4), high: scratch.getInt32(0) };
}

/** @param value a safe integer */
export function integer(value: number | bigint): Literal {
  return integerLiteral(BigInt(value));
}

export function doubleLiteral(value: number): Literal {
  scratch.setFloat64(0, value);
  return { kind: 'float', width: 64, low: scratch.getInt32(4), high: scratch.getInt32(0) };
}

export function singleLiteral(value: number): Literal {
  scratch.setFloat32(0, value);
  return { kind: 'float', width: 32, low: scratch.getInt32(0), high: 0 };
}

/** The number that a float literal's bits stand for. */
export function literalValue(literal: Literal & { kind: 'float' }): number {
  if (literal.width === 32) {
    scratch.setInt32(0, literal.low);
    return scratch.getFloat32(0);
  }
  scratch.setInt32(0, literal.high);
  scratch.setInt32(4, literal.low);
  return scratch.getFloat64(0);
}

/** Reads a number token (sign apart). The lexer lets only well-formed ones through. @returns undefined beyond 64 bits */
export function parseLiteral(text: string): Literal | undefined {
  if (/^0[fF]/.test(text)) return { kind: 'float', width: 32, low: parseInt(text.slice(2), 16) | 0, high: 0 };
  if (/^0[dD]/.test(text)) {
    const high = parseInt(text.slice(2, 10), 16) | 0;
    const low = parseInt(text.slice(10), 16) | 0;
    return { kind: 'float', width: 64, low, high };
  }
  if (!/^0[xXbB]/.test(text) && /[.eE]/.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) ? doubleLiteral(value) : undefined;
  }
  const value = integerValue(text);
  return value === undefined ? undefined : integerLiteral(value);
}

/** @returns undefined beyond 64 bits */
export function integerValue(text: string): bigint | undefined {
  const digits = text.replace(/U$/, '');
  const isOctal = /^0[0-7]+$/.test(digits);
  const value = BigInt(isOctal ? `0o${digits.slice(1)}` : digits);
  return value < 2n ** 64n ? value : undefined;
}
