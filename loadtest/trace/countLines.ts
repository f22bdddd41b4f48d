import { countOf } from './azureFunctions.js';
import { LineReader } from './lineReader.js';
import type { LoadError } from './loadError.js';
import type { TextSource } from './textSource.js';
import { clip, type TraceRow, type TraceRows } from './traceRows.js';

/** A number a line: arrivals of one second after the other. */
export class CountLines implements TraceRows {
  readonly timeName = 'lines';
  readonly unit = 's';
  readonly binSeconds = 1;
  readonly whenEmpty = 'there is no line in it';
  private readonly reader: LineReader;
  private second = -1;

  constructor(private readonly source: TextSource) {
    this.reader = new LineReader(source);
  }

  next(): TraceRow | undefined {
    const line = this.reader.next();
    if (line === undefined) return undefined;
    const count = countOf(line);
    if (count === undefined) {
      throw this.problem(
        `'${clip(line.trim())}' is no whole number: each line counts the arrivals of a second`,
      );
    }
    this.second += 1;
    const timeText = String(this.second);
    return { time: { number: timeText }, timeText, where: `${this.source.path}:${this.source.line}`, count };
  }

  progress(): number | undefined {
    return this.source.progress();
  }

  problem(text: string): LoadError {
    return this.source.problem(text);
  }

  close(): void {
    this.source.close();
  }
}
