import { LineSplitter } from '../../../simulator/text/index.js';
import { MAX_FRAME_BYTES } from '../../protocol/index.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Of a line, in characters: the longest output and what is around it. */
const MAX_LINE_LENGTH = MAX_FRAME_BYTES / 2;

/** The lines that a program writes, each as long as a frame can carry. */
export class ProgramLines {
  private readonly lines: LineSplitter;

  constructor(onLine: (line: string) => void) {
    this.lines = new LineSplitter(onLine);
  }

  /** @throws Error for a line without end */
  push(text: string): void {
    this.lines.push(text);
    if (this.lines.waiting <= MAX_LINE_LENGTH) return;
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
