import type { LoadError } from './loadError.js';
import { LineReader } from './lineReader.js';
import type { TextSource } from './textSource.js';
import type { TimeUnit } from './timestamp.js';
import type { ColumnNames } from './columnNames.js';
import { traceFeatures } from './traceFeatures.js';
import {
  clip,
  expectedTime,
  OTHER_COLUMNS,
  TIME_COLUMNS,
  writtenTime,
  type TraceRow,
  type TraceRows,
  type WrittenTime,
} from './traceRows.js';

export type JsonRecord = Readonly<Record<string, unknown>>;

/** Objects, one a line. */
export class JsonLines {
  private readonly reader: LineReader;

  constructor(private readonly source: TextSource) {
    this.reader = new LineReader(source);
  }

  /** undefined at the end. @throws LoadError naming the line. */
  next(): JsonRecord | undefined {
    const line = this.reader.next();
    if (line === undefined) return undefined;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (cause) {
      throw this.source.problem(
        `'${clip(line.trim())}' is not JSON: each line is an object by itself`,
        cause,
      );
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw this.source.problem(`'${clip(line.trim())}' is no object: each line is one, as {"time_s": 0.5}`);
    }
    return value as JsonRecord;
  }
}

/** The time in a field. @throws LoadError naming it. */
export function jsonTime(
  source: TextSource,
  name: string,
  value: unknown,
  unit: TimeUnit | undefined,
): { readonly time: WrittenTime; readonly timeText: string } {
  const timeText = typeof value === 'string' ? value.trim() : (JSON.stringify(value) ?? '');
  const time = typeof value === 'string' || typeof value === 'number' ? writtenTime(timeText) : undefined;
  if (time === undefined || ('date' in time && unit !== undefined)) {
    const what = value === undefined ? 'is missing' : `is '${clip(timeText)}'`;
    throw source.problem(`${name} ${what}: it must be ${expectedTime(unit)}`);
  }
  return { time, timeText };
}

/**
 * JSON lines with the fields that a CSV file has columns for; fields that mean nothing here are passed over. The first
 * line says which field gives the time.
 */
export class JsonRows implements TraceRows {
  readonly timeName: string;
  readonly unit: TimeUnit | undefined;
  readonly whenEmpty = 'the trace has no arrival';
  private readonly lines: JsonLines;
  private first: JsonRecord | undefined;

  /** @param unit what the format says of its times; undefined: what the field's name says. */
  constructor(
    private readonly source: TextSource,
    private readonly columnNames: ColumnNames,
    unit?: TimeUnit,
  ) {
    this.lines = new JsonLines(source);
    this.first = this.nextRecord();
    if (this.first === undefined) throw this.problem('the file is empty: each line is an object');
    this.timeName = this.timeNameOf(this.first);
    this.unit = unit ?? TIME_COLUMNS[this.timeName.toLowerCase()];
  }

  next(): TraceRow | undefined {
    const record = this.first ?? this.nextRecord();
    this.first = undefined;
    if (record === undefined) return undefined;
    const [application, context, input, sample, label, count, hash, features] = OTHER_COLUMNS.map(
      (name) => record[name] ?? undefined,
    );
    if (input !== undefined && sample !== undefined) {
      throw this.problem('input and sample both say what is asked: keep one');
    }
    return {
      ...jsonTime(this.source, this.timeName, record[this.timeName], this.unit),
      where: `${this.source.path}:${this.source.line}`,
      ...(application === undefined ? {} : { application: this.textOf('application', application) }),
      ...(context === undefined ? {} : { context: this.textOf('context', context) }),
      ...(input === undefined ? {} : { input }),
      ...(sample === undefined ? {} : { sample: this.sampleOf(sample) }),
      ...(label === undefined ? {} : { label: this.textOf('label', label) }),
      ...(hash === undefined ? {} : { inputHash: this.textOf('input_hash', hash) }),
      ...(count === undefined ? {} : { count: this.countOf(count) }),
      ...(features === undefined ? {} : { features: traceFeatures(features, (text) => this.problem(text)) }),
    };
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

  private textOf(name: string, value: unknown): string {
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    throw this.problem(`${name} must be a string or a number`);
  }

  /** With the product's names in place of the file's own. */
  private nextRecord(): JsonRecord | undefined {
    const record = this.lines.next();
    if (record === undefined || this.columnNames.isEmpty) return record;
    const values = Object.values(record);
    const names = Object.keys(record).map((name) => name.toLowerCase());
    const renamed = this.columnNames.renamed(names, (text) => this.problem(text));
    return Object.fromEntries(renamed.map((name, at) => [name, values[at]]));
  }

  private countOf(value: unknown): number {
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 1e9) return value;
    throw this.problem(`count is '${clip(JSON.stringify(value))}': it must be a whole number`);
  }

  private sampleOf(value: unknown): number {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value >= 1e9) {
      throw this.problem(
        `sample is '${clip(JSON.stringify(value))}': it must be the number of an input, from 0`,
      );
    }
    return value;
  }

  private timeNameOf(record: JsonRecord): string {
    const times = Object.keys(record).filter((name) => Object.hasOwn(TIME_COLUMNS, name.toLowerCase()));
    if (times.length === 1) return times[0];
    if (times.length > 1) {
      throw this.problem(`${times.join(' and ')} both give arrival times: rename or remove all but one`);
    }
    const are = Object.keys(record)
      .slice(0, 20)
      .map((name) => `'${clip(name)}'`);
    throw this.problem(
      `no field of arrival times: each line must have one of ${Object.keys(TIME_COLUMNS).join(', ')}, and this has ${are.join(', ')}`,
    );
  }
}
