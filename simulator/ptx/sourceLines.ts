export interface SourceLine {
  readonly file: string;
  readonly line: number;
}

/**
 * What `.loc` and `.file` directives say of each line of PTX (from 1): the source line that it was made of. Without them
 * (no `-lineinfo`) all are undefined.
 */
export function sourceLines(lines: readonly string[]): (SourceLine | undefined)[] {
  const files = new Map<number, string>();
  for (const text of lines) {
    const match = /^\s*\.file\s+(\d+)\s+"([^"]*)"/.exec(text);
    if (match !== null) files.set(Number(match[1]), match[2] ?? '');
  }
  const found = new Array<SourceLine | undefined>(lines.length + 1);
  if (files.size === 0) return found;
  let current: SourceLine | undefined;
  lines.forEach((text, index) => {
    // What was inlined is told by the line that called it: the user's own, where the other is often the toolkit's.
    const match =
      /^\s*\.loc\s.*\binlined_at\s+(\d+)\s+(\d+)/.exec(text) ?? /^\s*\.loc\s+(\d+)\s+(\d+)/.exec(text);
    if (match !== null) {
      const file = files.get(Number(match[1]));
      current = file === undefined ? undefined : { file, line: Number(match[2]) };
    } else if (/\.(?:entry|func)\b/.test(text)) current = undefined;
    found[index + 1] = current;
  });
  return found;
}
