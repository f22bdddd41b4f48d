import type { Features } from '../../selection/index.js';
import type { LoadError } from './loadError.js';
import { CsvReader } from './csvReader.js';
import type { TextSource } from './textSource.js';
import type { TimeUnit } from './timestamp.js';
import { countOf } from './azureFunctions.js';
import type { ColumnNames } from './columnNames.js';
import { traceFeatures } from './traceFeatures.js';
import {
  clip,
  expectedTime,
  OTHER_COLUMNS,
  TIME_COLUMNS,
  writtenTime,
  type OtherColumn,
  type TraceRow,
  type TraceRows,
} from './traceRows.js';

interface Columns {
  readonly count: number;
  readonly time: number;
  readonly timeName: string;
  readonly others: ReadonlyMap<OtherColumn, number>;
}

/** A CSV file with a header. Columns that mean nothing here are passed over. */
export class CsvRows implements TraceRows {
  readonly unit: TimeUnit | undefined;
  readonly timeName: string;
  readonly whenEmpty = 'the trace has a header and no arrival';
  private readonly reader: CsvReader;
  private readonly columns: Columns;

  /** Closes the source with itself. @throws LoadError when the header is none of a trace. */
  constructor(
    private readonly source: TextSource,
    private readonly columnNames: ColumnNames,
  ) {
    this.reader = new CsvReader(source);
    this.columns = this.header();
    this.timeName = this.columns.timeName;
    this.unit = TIME_COLUMNS[this.timeName];
  }

  next(): TraceRow | undefined {
    const record = this.reader.next();
    if (record === undefined) return undefined;
    const { count: width, others } = this.columns;
    if (record.length !== width) {
      throw this.problem(
        `${record.length} fields, and the header has ${width}: quote a field that has a comma in it`,
      );
    }
    const timeText = record[this.columns.time].trim();
    const time = writtenTime(timeText);
    if (time === undefined || ('date' in time && this.unit !== undefined)) {
      throw this.problem(`${this.timeName} is '${clip(timeText)}': it must be ${expectedTime(this.unit)}`);
    }
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
    const count = text('count');
    const inputHash = text('input_hash');
    const features = text('features');
    return {
      time,
      timeText,
      where: `${this.source.path}:${this.source.line}`,
      ...(application === undefined ? {} : { application }),
      ...(context === undefined ? {} : { context }),
      ...(input === undefined ? {} : { input: this.jsonOf(input) }),
      ...(sample === undefined ? {} : { sample: this.sampleOf(sample) }),
      ...(label === undefined ? {} : { label }),
      ...(inputHash === undefined ? {} : { inputHash }),
      ...(features === undefined ? {} : { features: this.featuresOf(features) }),
      ...(others.has('count') ? { count: this.countOf(count ?? '') } : {}),
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

  private featuresOf(text: string): Features {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw this.problem(
        `features '${clip(text)}' is no JSON: write {"hour": 14}, in double quotes, each quote in it doubled`,
      );
    }
    return traceFeatures(value, (problem) => this.problem(problem));
  }

  private countOf(text: string): number {
    const count = countOf(text);
    if (count === undefined) throw this.problem(`count is '${clip(text)}': it must be a whole number`);
    return count;
  }

  private sampleOf(text: string): number {
    if (!/^\d{1,9}$/.test(text)) {
      throw this.problem(`sample is '${clip(text)}': it must be the number of an input, from 0`);
    }
    return Number(text);
  }

  private header(): Columns {
    const found = this.reader.next()?.map((name) => name.trim().toLowerCase());
    if (found === undefined) throw this.problem('the file is empty: the first line names the columns');
    const names = this.columnNames.renamed(found, (text) => this.problem(text));
    const known = [...Object.keys(TIME_COLUMNS), ...OTHER_COLUMNS];
    for (const [at, name] of names.entries()) {
      if (known.includes(name) && names.indexOf(name) !== at)
        throw this.problem(`two columns are named '${name}'`);
    }
    const times = names.filter((name) => Object.hasOwn(TIME_COLUMNS, name));
    if (times.length === 0) throw this.problem(noTimes('the first line', names));
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
    return { count: names.length, time: names.indexOf(timeName), timeName, others: new Map(others) };
  }
}

function noTimes(what: string, names: readonly string[]): string {
  const are = names.slice(0, 20).map((name) => `'${clip(name)}'`);
  const more = names.length > 20 ? `, and ${names.length - 20} more` : '';
  return `no column of arrival times: ${what} must name one of ${Object.keys(TIME_COLUMNS).join(', ')}, and has ${are.join(', ')}${more}; --column time_s=NAME says which it is`;
}
