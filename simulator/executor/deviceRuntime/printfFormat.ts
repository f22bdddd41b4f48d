import { exponentDigits, fixedDigits, hexDigits } from './decimal.js';

/** One conversion of a format such as `%-08.3lf`. */
export interface Conversion {
  readonly flags: string;
  readonly width: number | 'argument';
  readonly precision?: number;
  readonly length: string;
  readonly letter: string;
  /** As it stands in the format. */
  readonly text: string;
}

/** As the card has it: a width may be an argument, a precision not, and there are no sizes but these. */
const grammar = /%([-+ #0]*)(\*|\d+)?(?:\.(\d*))?(hh|h|ll|l)?([a-zA-Z%])/g;
const letters = /^[diouxXcspfFeEgGaA]$/;

/** A format cut into plain text and conversions. What is no conversion stays text, and takes no argument. */
export function parseFormat(format: string): (string | Conversion)[] {
  const parts: (string | Conversion)[] = [];
  let end = 0;
  for (const found of format.matchAll(grammar)) {
    const [text, flags = '', width, precision, length = '', letter = ''] = found;
    if (found.index > end) parts.push(format.slice(end, found.index));
    end = found.index + text.length;
    if (letter === '%') parts.push('%');
    else if (!letters.test(letter)) parts.push(text);
    else {
      parts.push({
        flags,
        width: width === '*' ? 'argument' : Number(width ?? 0),
        ...(precision === undefined ? {} : { precision: Number(precision) }),
        length,
        letter,
        text,
      });
    }
  }
  if (end < format.length) parts.push(format.slice(end));
  return parts;
}

/** Bytes that the argument of a conversion takes: what is shorter than an int is passed as an int. */
export function argumentBytes({ letter, length }: Conversion): 4 | 8 {
  if (/[diouxXc]/.test(letter)) return /^ll?$/.test(length) && letter !== 'c' ? 8 : 4;
  return 8;
}

export interface Layout {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
}

/** Text of an integer conversion. `bits` holds the argument, zero-extended. */
export function formatInteger({ letter, length }: Conversion, layout: Layout, bits: bigint): string {
  const size =
    length === 'hh' ? 8 : length === 'h' ? 16 : argumentBytes({ letter, length } as Conversion) * 8;
  const isSigned = letter === 'd' || letter === 'i';
  const value = isSigned ? BigInt.asIntN(size, bits) : BigInt.asUintN(size, bits);
  const magnitude = value < 0n ? -value : value;
  const radix = letter === 'o' ? 8 : letter === 'x' || letter === 'X' ? 16 : 10;
  let digits = magnitude.toString(radix);
  if (letter === 'X') digits = digits.toUpperCase();
  if (layout.precision === 0 && magnitude === 0n) digits = '';
  digits = digits.padStart(layout.precision ?? 1, '0');
  let prefix = isSigned ? signOf(value < 0n, layout.flags) : '';
  if (layout.flags.includes('#')) {
    if (radix === 16 && magnitude !== 0n) prefix = letter === 'X' ? '0X' : '0x';
    if (radix === 8 && !digits.startsWith('0')) digits = `0${digits}`;
  }
  return padded(prefix, digits, layout, layout.precision === undefined);
}

export function formatPointer(layout: Layout, address: bigint): string {
  return padded('', address === 0n ? '(nil)' : `0x${address.toString(16)}`, layout, false);
}

/** Text of `%s` and `%c`. */
export function formatText(layout: Layout, text: string): string {
  return padded('', text, layout, false);
}

/** Text of `%f`, `%e`, `%g`, `%a` and their capitals. @param isNegative the sign bit, which a NaN has too */
export function formatFloat(letter: string, layout: Layout, value: number, isNegative: boolean): string {
  const sign = signOf(isNegative, layout.flags);
  const magnitude = Math.abs(value);
  const isFinite = Number.isFinite(value);
  const body = isFinite
    ? finite(letter.toLowerCase(), layout, magnitude)
    : Number.isNaN(value)
      ? 'nan'
      : 'inf';
  const isHex = isFinite && /a/i.test(letter);
  const text = isHex ? body.slice(2) : body;
  const cased = letter === letter.toUpperCase() ? text.toUpperCase() : text;
  const prefix = isHex ? sign + (letter === 'A' ? '0X' : '0x') : sign;
  return padded(prefix, cased, layout, isFinite);
}

function finite(letter: string, { flags, precision }: Layout, value: number): string {
  const isAlternative = flags.includes('#');
  switch (letter) {
    case 'f': {
      const text = fixedDigits(value, precision ?? 6);
      return isAlternative && precision === 0 ? `${text}.` : text;
    }
    case 'e':
      return exponential(value, precision ?? 6, isAlternative);
    case 'a':
      return hexDigits(value, precision);
    default: {
      const significant = Math.max(1, precision ?? 6);
      const { exponent } = exponentDigits(value, significant - 1);
      const text =
        exponent >= -4 && exponent < significant
          ? fixedDigits(value, significant - 1 - exponent)
          : exponential(value, significant - 1, isAlternative);
      return isAlternative ? text : text.replace(/(\.\d*?)0+(e|$)/, '$1$2').replace(/\.(e|$)/, '$1');
    }
  }
}

function exponential(value: number, precision: number, isAlternative: boolean): string {
  const { digits, exponent } = exponentDigits(value, precision);
  const point = precision > 0 || isAlternative ? '.' : '';
  const power = Math.abs(exponent).toString().padStart(2, '0');
  return `${digits.slice(0, 1)}${point}${digits.slice(1)}e${exponent < 0 ? '-' : '+'}${power}`;
}

function signOf(isNegative: boolean, flags: string): string {
  if (isNegative) return '-';
  return flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
}

function padded(prefix: string, body: string, { flags, width }: Layout, takesZeros: boolean): string {
  const missing = width - prefix.length - body.length;
  if (missing <= 0) return prefix + body;
  if (flags.includes('-')) return prefix + body + ' '.repeat(missing);
  if (flags.includes('0') && takesZeros) return prefix + '0'.repeat(missing) + body;
  return ' '.repeat(missing) + prefix + body;
}
