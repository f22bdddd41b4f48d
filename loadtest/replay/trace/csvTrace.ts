import { ReplayError } from '../replayError.js';
import { CsvReader } from './csvReader.js';
import { nsBetween, parseDateTime, parseNumber, type Timestamp } from './timestamp.js';
import type { Arrival, Trace } from './trace.js';

type TimeForm = 'seconds' | 'milliseconds' | 'timestamp';

/** Column names, in lower case. */
const TIME_COLUMNS: Readonly<Record<string, TimeForm>> = {
  time_s: 'seconds',
  t_s: 'seconds',
  seconds: 'seconds',
  time: 'seconds',
  time_ms: 'milliseconds',
  t_ms: 'milliseconds',
  timestamp_ms: 'milliseconds',
  timestamp: 'timestamp',
};

/** A century: what is later is no time of an arrival. */
const LONGEST_NS = 3.2e18;

const OTHER_COLUMNS = ['application', 'context', 'input', 'sample', 'label'] as const;
type OtherColumn = (typeof OTHER_COLUMNS)[number];

interface Columns {
  readonly count: number;
  readonly time: number;
  readonly timeName: string;
  readonly form: TimeForm;
  readonly others: ReadonlyMap<OtherColumn, number>;
}

const EXPECTED: Readonly<Record<TimeForm, string>> = {
  seconds: 'a number of seconds',
  milliseconds: 'a number of milliseconds',
  timestamp: 'a date and time like 2023-11-16 18:17:03.97, or a number of seconds',
};

/**
 * Arrivals from a CSV file with a header. The first one is at zero; the others keep their distances, divided by the
 * scale. Columns that mean nothing here are passed over.
 */
export class CsvTrace implements Trace {
  private readonly reader: CsvReader;
  private readonly columns: Columns;
  private first: Timestamp | undefined;
  private lastNs = 0;

  /** @throws ReplayError when the file or its header is no trace. */
  constructor(
    readonly name: string,
    private readonly scale: number,
  ) {
    this.reader = new CsvReader(name);
    try {
      this.columns = this.header();
    } catch (error) {
      this.reader.close();
      throw error;
    }
  }

  next(): Arrival | undefined {
    const record = this.reader.next();
    if (record === undefined) {
      if (this.first === undefined) throw this.problem('the trace has a header and no arrival');
      return undefined;
    }
    const { count, others } = this.columns;
    if (record.length !== count) {
      throw this.problem(
        `${record.length} fields, and the header has ${count}: quote a field that has a comma in it`,
      );
    }
    const atNs = this.time(record);
    const text = (column: OtherColumn): string | undefined => {
      const at = others.get(column);
      const value = at === undefined ? '' : record[at].trim();
      return value === '' ? undefined : value;
    };
    const application = text('application');
    const context = text('context');
    const input = text('input');
    const sample = text('sample');
    const label = text('label');
    return {
      atNs,
      where: `${this.reader.path}:${this.reader.line}`,
      ...(application === undefined ? {} : { application }),
      ...(context === undefined ? {} : { context }),
      ...(input === undefined ? {} : { input: this.jsonOf(input) }),
      ...(sample === undefined ? {} : { sample: this.sampleOf(sample) }),
      ...(label === undefined ? {} : { label }),
    };
  }

  progress(): number | undefined {
    return this.reader.progress();
  }

  close(): void {
    this.reader.close();
  }

  private time(record: readonly string[]): number {
    const { time, timeName, form } = this.columns;
    const text = record[time].trim();
    const moment =
      (form === 'timestamp' ? parseDateTime(text) : undefined) ??
      parseNumber(text, form === 'milliseconds' ? 1000 : 1);
    if (moment === undefined)
      throw this.problem(`${timeName} is '${clip(text)}': it must be ${EXPECTED[form]}`);
    this.first ??= moment;
    const atNs = nsBetween(this.first, moment) / this.scale;
    if (!(atNs <= LONGEST_NS)) {
      throw this.problem(`${timeName} '${clip(text)}' is more than a century after the first row`);
    }
    if (atNs < this.lastNs) {
      throw this.problem(`${timeName} '${text}' is before the line above: sort the file by time`);
    }
    this.lastNs = atNs;
    return atNs;
  }

  /** Anything that is no JSON is a string. */
  private jsonOf(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      if (/^[[{]/.test(text)) {
        throw this.problem(
          `input '${clip(text)}' is no JSON: write [1, 2, 3], in double quotes for its commas`,
        );
      }
      return text;
    }
  }

  private sampleOf(text: string): number {
    if (!/^\d{1,9}$/.test(text)) {
      throw this.problem(`sample is '${clip(text)}': it must be the number of an input, from 0`);
    }
    return Number(text);
  }

  private header(): Columns {
    const names = this.reader.next()?.map((name) => name.trim().toLowerCase());
    if (names === undefined) throw this.problem('the file is empty: the first line names the columns');
    const known = [...Object.keys(TIME_COLUMNS), ...OTHER_COLUMNS];
    for (const [at, name] of names.entries()) {
      if (known.includes(name) && names.indexOf(name) !== at)
        throw this.problem(`two columns are named '${name}'`);
    }
    const times = names.filter((name) => Object.hasOwn(TIME_COLUMNS, name));
    if (times.length === 0) {
      const are = names.map((name) => `'${clip(name)}'`).join(', ');
      throw this.problem(
        `no column of arrival times: the first line must name one of ${Object.keys(TIME_COLUMNS).join(', ')}, and has ${are}`,
      );
    }
    if (times.length > 1) {
      throw this.problem(`${times.join(' and ')} both give arrival times: rename or remove all but one`);
    }
    const others = OTHER_COLUMNS.flatMap((column) => {
      const at = names.indexOf(column);
      return at < 0 ? [] : [[column, at] as const];
    });
    if (names.includes('input') && names.includes('sample')) {
      throw this.problem('input and sample both say what is asked: keep one');
    }
    const [timeName] = times;
    return {
      count: names.length,
      time: names.indexOf(timeName),
      timeName,
      form: TIME_COLUMNS[timeName],
      others: new Map(others),
    };
  }

  private problem(text: string): ReplayError {
    return new ReplayError(`${this.reader.path}:${Math.max(1, this.reader.line)}`, text);
  }
}

function clip(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
