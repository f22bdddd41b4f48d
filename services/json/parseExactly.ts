import { MANY_DIGITS } from './exactInteger.js';

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
/** Stands for such an integer while the native parser runs: no text can have guessed it. */
const MARK = `integer ${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
const QUOTE = 34;
const BACKSLASH = 92;

/**
 * As `JSON.parse`, but that an integer which is another one as a double is a bigint. Whole numbers that are written as
 * JavaScript writes doubles stay numbers, however large. @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text);
  const marked = withMarks(text);
  if (marked === text) return JSON.parse(text);
  // What is no JSON is said of the text that came.
  JSON.parse(text);
  return JSON.parse(marked, (_name, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}

function withMarks(text: string): string {
  let marked = '';
  let kept = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at + 1);
      continue;
    }
    NUMBER.lastIndex = at;
    const [number] = NUMBER.exec(text) ?? [''];
    if (number !== '' && isInexact(number)) {
      marked += `${text.slice(kept, at)}"${MARK}${number}"`;
      kept = at + number.length;
    }
    at += Math.max(1, number.length);
  }
  return marked + text.slice(kept);
}

function isInexact(number: string): boolean {
  return number.length > 15 && /^-?\d+$/.test(number) && String(Number(number)) !== number;
}

/** Behind the closing quote of the string whose content begins at `at`. */
function endOfString(text: string, at: number): number {
  let end = at;
  while (end < text.length && text.charCodeAt(end) !== QUOTE) {
    end += text.charCodeAt(end) === BACKSLASH ? 2 : 1;
  }
  return end + 1;
}
