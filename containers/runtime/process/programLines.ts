import { MAX_FRAME_BYTES } from '../../protocol/index.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Of a line, in characters: the longest output and what is around it. */
const MAX_LINE_LENGTH = MAX_FRAME_BYTES / 2;

/** Puts lines together from the pieces that a pipe gives. */
export class LineSplitter {
  private pieces: string[] = [];
  private held = 0;

  constructor(private readonly onLine: (line: string) => void) {}

  /** @throws Error for a line without end */
  push(text: string): void {
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      const last = text.slice(start, end);
      start = end + 1;
      const line = this.held === 0 ? last : this.pieces.join('') + last;
      this.pieces = [];
      this.held = 0;
      this.onLine(line);
    }
    if (start === text.length) return;
    this.pieces.push(text.slice(start));
    this.held += text.length - start;
    if (this.held <= MAX_LINE_LENGTH) return;
    throw new Error(`the program wrote a line of more than ${MAX_LINE_LENGTH} characters`);
  }
}

/** The object that a line is; undefined when it is none. NaN and the infinities, which many languages write, are null. */
export function jsonIn(line: string): JsonObject | undefined {
  const value = parsed(line) ?? parsed(withoutNonNumbers(line));
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

/** The id that a broken line begins to answer. */
export function idIn(line: string): number | undefined {
  const found = /^\s*\{\s*"id"\s*:\s*(\d{1,15})\b/.exec(line);
  return found === null ? undefined : Number(found[1]);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

/** Outside of texts. */
function withoutNonNumbers(line: string): string {
  return line.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:NaN|Infinity|nan|inf)\b/g, (found) =>
    found.startsWith('"') ? found : 'null',
  );
}
