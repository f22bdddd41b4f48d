/** What stands for -0 until the text is written: `JSON.stringify` would write 0. No text of a result is made of it alone. */
const NEGATIVE_ZERO = '\u0000-0\u0000';

/** A result as JSON in one line, in which -0 is `-0`. */
export function resultText(result: object): string {
  const text = JSON.stringify(result, (_, value: unknown) => (Object.is(value, -0) ? NEGATIVE_ZERO : value));
  return text.replaceAll(JSON.stringify(NEGATIVE_ZERO), '-0');
}
