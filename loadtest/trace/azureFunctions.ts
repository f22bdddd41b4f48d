import { CsvReader } from './csvReader.js';
import type { LoadError } from './loadError.js';
import type { TextSource } from './textSource.js';
import { clip, type TraceRow, type TraceRows } from './traceRows.js';
import type { Deal } from './traceSpec.js';
import { isNumber } from './timestamp.js';

/** Columns by which the two tables are known. */
export const COLUMNS_2019 = ['hashowner', 'hashapp', 'hashfunction', 'trigger'] as const;
export const COLUMNS_2021 = ['app', 'func', 'end_timestamp', 'duration'] as const;

const ALONE: Deal = { groups: 1, of: () => 0 };
const MINUTE_SECONDS = 60;

/**
 * Azure Functions 2019: a row a function, with its calls in each of the minutes 1 to 1440. It is read whole, and kept as counts by minute and
 * group of functions: memory does not grow with the number of functions or calls.
 */
export class Azure2019Rows implements TraceRows {
  readonly timeName = 'minutes';
  readonly unit = 's';
  readonly binSeconds = MINUTE_SECONDS;
  readonly whenEmpty = 'no function is called in it';
  private readonly calls: readonly Float64Array[];
  private minute = 0;
  private group = -1;

  constructor(
    private readonly source: TextSource,
    private readonly deal: Deal = ALONE,
  ) {
    this.calls = this.read();
  }

  next(): TraceRow | undefined {
    const minutes = this.calls[0].length;
    for (;;) {
      this.group += 1;
      if (this.group === this.deal.groups) {
        this.group = 0;
        this.minute += 1;
      }
      if (this.minute >= minutes) return undefined;
      const count = this.calls[this.group][this.minute];
      // Minutes without a call belong to the trace's length.
      const isEnd = this.minute === minutes - 1 && this.group === this.deal.groups - 1;
      if (count === 0 && !isEnd && !(this.minute === 0 && this.group === 0)) continue;
      const timeText = String(this.minute * MINUTE_SECONDS);
      const where = `${this.source.path}, minute ${this.minute + 1}`;
      return { time: { number: timeText }, timeText, where, count, group: this.group };
    }
  }

  progress(): number {
    return this.minute / this.calls[0].length;
  }

  problem(text: string): LoadError {
    return this.source.problem(text);
  }

  close(): void {
    this.source.close();
  }

  private read(): readonly Float64Array[] {
    const reader = new CsvReader(this.source);
    const names = reader.next()?.map((name) => name.trim().toLowerCase()) ?? [];
    const first = names.indexOf('1');
    const key = names.indexOf('hashfunction');
    if (first < 0 || key < 0)
      throw this.problem('the first line must name HashFunction and the minutes, from 1 on');
    const minutes = names.length - first;
    names.slice(first).forEach((name, at) => {
      if (name !== String(at + 1))
        throw this.problem(`the column after minute ${at} is '${clip(name)}', not ${at + 1}`);
    });
    const calls = Array.from({ length: this.deal.groups }, () => new Float64Array(minutes));
    for (let record = reader.next(); record !== undefined; record = reader.next()) {
      if (record.length !== names.length) {
        throw this.problem(`${record.length} fields, and the header has ${names.length}`);
      }
      const counts = calls[this.deal.of(record[key])];
      for (let minute = 0; minute < minutes; minute++) {
        const text = record[first + minute];
        if (text === '0') continue;
        const count = countOf(text);
        if (count === undefined) {
          throw this.problem(`minute ${minute + 1} is '${clip(text)}': it must be a whole number of calls`);
        }
        counts[minute] += count;
      }
    }
    return calls;
  }
}

/** A number of arrivals; undefined: the text is none. */
export function countOf(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return 0;
  const count = isNumber(trimmed) ? Number(trimmed) : NaN;
  return Number.isInteger(count) && count >= 0 && count <= 1e9 ? count : undefined;
}

/** Azure Functions 2021: a row a call, with its end and how long it took. Rows are by end: those of arrivals come somewhat late. */
export class Azure2021Rows implements TraceRows {
  readonly timeName = 'end_timestamp';
  readonly unit = 's';
  readonly whenEmpty = 'the trace has a header and no call';
  private readonly reader: CsvReader;
  private readonly places: readonly number[];
  private readonly width: number;

  constructor(
    private readonly source: TextSource,
    private readonly deal: Deal = ALONE,
  ) {
    this.reader = new CsvReader(source);
    const names = this.reader.next()?.map((name) => name.trim().toLowerCase()) ?? [];
    this.width = names.length;
    this.places = COLUMNS_2021.map((name) => {
      const at = names.indexOf(name);
      if (at < 0)
        throw this.problem(`Azure Functions 2021 has a column ${name}, and this first line has none`);
      return at;
    });
  }

  next(): TraceRow | undefined {
    const record = this.reader.next();
    if (record === undefined) return undefined;
    if (record.length !== this.width) {
      throw this.problem(`${record.length} fields, and the header has ${this.width}`);
    }
    const [, func, end, duration] = this.places.map((at) => record[at].trim());
    for (const [name, text] of [
      ['end_timestamp', end],
      ['duration', duration],
    ]) {
      if (!isNumber(text)) throw this.problem(`${name} is '${clip(text)}': it must be a number of seconds`);
    }
    const timeText = String(Number(end) - Number(duration));
    const where = `${this.source.path}:${this.source.line}`;
    return { time: { number: timeText }, timeText, where, group: this.deal.of(func) };
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
