/** Values that hold others are compared so deep; none of a model's is deeper. */
const MOST_DEPTH = 64;
/** Longer whole numbers are not all different as doubles. */
const EXACT_DIGITS = 15;
const MAY_BE_HUGE = /\d{16}|[eE]\+?\d{3}/;
/** Strings of a JSON text, which are left alone, and numbers. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/gs;

/**
 * Whether two outputs, or an output and a label, are the same JSON value: 0.0 is 0, "q" is the q of an application that sends
 * text, and an object's keys may come in any order. A text and a number are the same when the text is that number.
 */
export function sameOutput(one: string, other: string): boolean {
  if (one === other) return true;
  if (!mayBeJson(one) && !mayBeJson(other)) return false;
  return sameValue(valueOf(one), valueOf(other), 0);
}

/** A text that no other text is the same JSON value as. */
function mayBeJson(text: string): boolean {
  // Numbers, strings, lists and objects; words stand for themselves.
  return /^\s*["[{\d-]/.test(text);
}

function valueOf(text: string): unknown {
  if (isLongInteger(text)) return text;
  try {
    return JSON.parse(withoutHugeNumbers(text));
  } catch {
    return text;
  }
}

/** Numbers that doubles do not tell apart become texts, which a number is the same as when it is written so. */
function withoutHugeNumbers(text: string): string {
  if (!MAY_BE_HUGE.test(text)) return text;
  return text.replace(TOKENS, (token) =>
    /^-?[1-9]/.test(token) && (isLongInteger(token) || !Number.isFinite(Number(token)))
      ? `"${token}"`
      : token,
  );
}

function isLongInteger(text: string): boolean {
  return text.length > EXACT_DIGITS && /^-?\d+$/.test(text);
}

function sameValue(one: unknown, other: unknown, depth: number): boolean {
  if (!isContainer(one) || !isContainer(other)) {
    return !isContainer(one) && !isContainer(other) && sameScalar(one, other);
  }
  if (depth === MOST_DEPTH || Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && sameValue(one[key], other[key], depth + 1))
  );
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function sameScalar(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one === typeof other && typeof one !== 'string') return false;
  const [text, otherText] = [String(one), String(other)];
  if (text === otherText) return true;
  if (isLongInteger(text) || isLongInteger(otherText)) return false;
  const [number, otherNumber] = [numberOf(text), numberOf(otherText)];
  return number !== undefined && number === otherNumber;
}

/** Of a text that is a number as JSON writes them. */
function numberOf(text: string): number | undefined {
  if (!/^-?\d/.test(text)) return undefined;
  const value = valueOf(text);
  return typeof value === 'number' ? value : undefined;
}
