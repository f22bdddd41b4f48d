import { jsonText } from '../json/index.js';
/** Prints a result: as JSON when asked for, otherwise the text for people. */
export function print(json: boolean | undefined, value: unknown, text: string): void {
  process.stdout.write(json === true ? `${jsonText(value)}\n` : `${text}\n`);
}

/** Prints the sentence that a change is answered with. */
export function printDone(json: boolean | undefined, sentence: string): void {
  print(json, { message: sentence }, sentence);
}

/** Columns as wide as their widest cell. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column].length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd();
  return [heads, ...rows].map(line).join('\n');
}
