const ZERO = 48;
const NINE = 57;
const MINUS = 45;
const PLUS = 43;
const POINT = 46;
const LETTER_E = 69;
const LOWER = 32;

/** Digits whose value a double holds exactly. */
const EXACT_DIGITS = 15;
const POWERS = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/**
 * Reads one number of JSON. Its value is the double that `JSON.parse` makes of the same bytes: up to 15 digits and a
 * power of ten up to 22 are exact, and so is their product or quotient rounded once; the rest is left to `Number`.
 */
export class NumberReader {
  value = 0;
  /** Behind the number; of text that is none, its offending byte. */
  end = 0;

  /** Whether a number stands at `start`; `value` and `end` say which. */
  read(bytes: Buffer, start: number): boolean {
    let at = start;
    const isNegative = bytes[at] === MINUS;
    if (isNegative) at += 1;
    const first = at;
    let mantissa = 0;
    let byte = bytes[at];
    while (byte >= ZERO && byte <= NINE) {
      mantissa = mantissa * 10 + (byte - ZERO);
      at += 1;
      byte = bytes[at];
    }
    let digits = at - first;
    this.end = at;
    if (digits === 0) return false;
    if (digits > 1 && bytes[first] === ZERO) {
      this.end = first + 1;
      return false;
    }
    let exponent = 0;
    if (byte === POINT) {
      at += 1;
      const fraction = at;
      byte = bytes[at];
      while (byte >= ZERO && byte <= NINE) {
        mantissa = mantissa * 10 + (byte - ZERO);
        at += 1;
        byte = bytes[at];
      }
      this.end = at;
      if (at === fraction) return false;
      digits += at - fraction;
      exponent = fraction - at;
    }
    if ((byte & ~LOWER) === LETTER_E) {
      at += 1;
      byte = bytes[at];
      const isSmall = byte === MINUS;
      if (isSmall || byte === PLUS) at += 1;
      const from = at;
      let power = 0;
      byte = bytes[at];
      while (byte >= ZERO && byte <= NINE) {
        power = power * 10 + (byte - ZERO);
        at += 1;
        byte = bytes[at];
      }
      this.end = at;
      if (at === from) return false;
      exponent += isSmall ? -power : power;
    }
    this.end = at;
    if (digits > EXACT_DIGITS || exponent > 22 || exponent < -22) {
      this.value = Number(bytes.toString('latin1', start, at));
      return true;
    }
    const size = exponent < 0 ? mantissa / POWERS[-exponent] : mantissa * POWERS[exponent];
    this.value = isNegative ? -size : size;
    return true;
  }
}
