/**
 * A function of the given source. Its text is made of the summary's numbers and of names that the generator chose, never of text
 * from a kernel (names of variables go through JSON.stringify).
 */
export function generatedFunction<T>(parameters: readonly string[], body: string): T {
  // Generated code is what makes a verdict take less than a microsecond (PICKER, section 2.11).
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const make = new Function(...parameters, `'use strict';\n${body}`) as T;
  return make;
}
