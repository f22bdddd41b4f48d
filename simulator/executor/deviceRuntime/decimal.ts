/** A finite double ≥ 0 as numerator / denominator, exactly. */
function exactRatio(value: number): { numerator: bigint; denominator: bigint } {
  const { mantissa, exponent } = decompose(value);
  return exponent >= 0
    ? { numerator: mantissa << BigInt(exponent), denominator: 1n }
    : { numerator: mantissa, denominator: 1n << BigInt(-exponent) };
}

/** value = mantissa × 2^exponent. */
export function decompose(value: number): { mantissa: bigint; exponent: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (1n << 52n), exponent: biased - 1075 };
}

/** value × 10^scale as an integer, ties to even. */
function scaled(value: number, scale: number): bigint {
  let { numerator, denominator } = exactRatio(value);
  if (scale >= 0) numerator *= 10n ** BigInt(scale);
  else denominator *= 10n ** BigInt(-scale);
  const quotient = numerator / denominator;
  const twice = 2n * (numerator % denominator);
  const roundsUp = twice > denominator || (twice === denominator && (quotient & 1n) === 1n);
  return roundsUp ? quotient + 1n : quotient;
}

/** A finite double ≥ 0 with `precision` digits behind the point, as C's `%f` rounds it. */
export function fixedDigits(value: number, precision: number): string {
  const digits = scaled(value, precision)
    .toString()
    .padStart(precision + 1, '0');
  return precision === 0 ? digits : `${digits.slice(0, -precision)}.${digits.slice(-precision)}`;
}

/** Digits and decimal exponent of a finite double ≥ 0: d.ddd × 10^exponent with `precision` digits behind the point. */
export function exponentDigits(value: number, precision: number): { digits: string; exponent: number } {
  if (value === 0) return { digits: '0'.repeat(precision + 1), exponent: 0 };
  let exponent = Math.floor(Math.log10(value));
  for (;;) {
    const digits = scaled(value, precision - exponent).toString();
    if (digits.length === precision + 1) return { digits, exponent };
    exponent += digits.length > precision + 1 ? 1 : -1;
  }
}

/** A finite double ≥ 0 as C's `%a` writes it, without sign: `0x1.8p+1`. Without a precision, as many digits as it takes. */
export function hexDigits(value: number, precision: number | undefined): string {
  const { mantissa, exponent } = decompose(value);
  if (mantissa === 0n)
    return `0x0${precision === undefined || precision === 0 ? '' : `.${'0'.repeat(precision)}`}p+0`;
  // 52 bits behind the point: subnormals keep a 0 before it.
  let point = mantissa;
  const power = exponent + 52;
  let digits = 13;
  if (precision !== undefined && precision < 13) {
    const dropped = BigInt(4 * (13 - precision));
    const half = 1n << (dropped - 1n);
    const rest = point & ((1n << dropped) - 1n);
    point >>= dropped;
    if (rest > half || (rest === half && (point & 1n) === 1n)) point += 1n;
    digits = precision;
  }
  const lead = point >> BigInt(4 * digits);
  let fraction =
    digits === 0 ? '' : (point & ((1n << BigInt(4 * digits)) - 1n)).toString(16).padStart(digits, '0');
  if (precision === undefined) fraction = fraction.replace(/0+$/, '');
  else fraction = fraction.padEnd(precision, '0');
  return `0x${lead}${fraction === '' ? '' : `.${fraction}`}p${power < 0 ? '-' : '+'}${Math.abs(power)}`;
}
