import { parse, CsvError } from 'csv-parse/sync';
import { readTextFile } from '../../files/index.js';
import { reasonOf } from '../../text/index.js';
import { CalibrationError } from './calibrationError.js';

/** A line of a table of measurements. */
export interface Measurement {
  readonly launch: string;
  readonly durationUs: number;
  /** Where it was measured. */
  readonly backToBackUs?: number;
  /** File and line, for messages. */
  readonly place: string;
  /** Of the other columns that were asked for, by their heads. */
  readonly cells: Readonly<Record<string, string>>;
}

const LAUNCH = 'launch';
const DURATION = 'duration_us';
const BACK_TO_BACK = 'back_to_back_us';

/**
 * Lines of a CSV file below its header, in their order: `launch`, `duration_us` and, if it is there, `back_to_back_us`, and
 * others that are asked for, in any order of columns; lines that start with `#` are skipped.
 * @param others heads of columns that must be there too
 * @throws CalibrationError `unreadable` for the file, `nothingMeasured` for a header alone, `invalidMeasurement` with
 * line and column for a table that is none, lacks a column, names a launch twice or has what is no time
 */
export function readMeasurements(path: string, others: readonly string[] = []): Measurement[] {
  const [header, ...below] = parseTable(path);
  const heads = new Heads(`${path}:${header?.line ?? 1}`, header?.cells ?? []);
  const launches = heads.column(LAUNCH);
  const durations = heads.column(DURATION);
  const intervals = heads.find(BACK_TO_BACK);
  const more = others.map((name) => [name, heads.column(name)] as const);
  if (below.length === 0) throw new CalibrationError('nothingMeasured', `${path}: no lines below the header`);
  const seen = new Map<string, number>();
  return below.map(({ line, cells }) => {
    const place = `${path}:${line}`;
    const launch = cells[launches].trim();
    const before = seen.get(launch);
    if (before !== undefined) {
      throw new CalibrationError(
        'invalidMeasurement',
        `${place}: column launch: '${launch}' stands in line ${before} already`,
      );
    }
    seen.set(launch, line);
    const interval = intervals < 0 ? '' : cells[intervals];
    return {
      launch,
      place,
      durationUs: time(cells[durations], `${place}: column ${DURATION}`),
      ...(interval.trim() === '' ? {} : { backToBackUs: time(interval, `${place}: column ${BACK_TO_BACK}`) }),
      cells: Object.fromEntries(more.map(([name, column]) => [name, cells[column].trim()])),
    };
  });
}

class Heads {
  /** @param place file and line of the header */
  constructor(
    private readonly place: string,
    private readonly names: readonly string[],
  ) {}

  /** -1 where there is none. */
  find(name: string): number {
    const column = this.names.indexOf(name);
    if (column === this.names.lastIndexOf(name)) return column;
    throw new CalibrationError(
      'invalidMeasurement',
      `${this.place}: column '${name}' is there more than once; keep one of them`,
    );
  }

  column(name: string): number {
    const column = this.find(name);
    if (column >= 0) return column;
    throw new CalibrationError(
      'invalidMeasurement',
      `${this.place}: no column '${name}' in the header; there are: ${this.names.join(', ') || 'none'}`,
    );
  }
}

/** A nanosecond, and a quarter of an hour: what is outside has another unit. */
const SHORTEST_US = 1e-3;
const LONGEST_US = 1e9;

function time(text: string, place: string): number {
  const isDecimal = /^\s*\d*\.?\d*([eE][-+]?\d+)?\s*$/.test(text) && text.trim() !== '';
  return checkTime(isDecimal ? Number(text) : NaN, text, place);
}

/** @param text as it was given. @throws CalibrationError for what is no time in microseconds */
export function checkTime(us: number, text: string, place: string): number {
  if (us >= SHORTEST_US && us <= LONGEST_US) return us;
  throw new CalibrationError(
    'invalidMeasurement',
    `${place}: '${text}' is not a number of microseconds, ${SHORTEST_US} to ${LONGEST_US}`,
  );
}

/** A parser's message may hold half of a file that is no table. */
const MOST_MESSAGE = 200;

function parseTable(path: string): { readonly line: number; readonly cells: readonly string[] }[] {
  const text = readText(path);
  try {
    const records = parse(text, {
      bom: true,
      comment: '#',
      comment_no_infix: true,
      skip_empty_lines: true,
      info: true,
    });
    return (records as unknown as { info: { lines: number }; record: string[] }[]).map(
      ({ info, record }, index) => ({
        line: info.lines,
        cells: index === 0 ? record.map((head) => head.trim()) : record,
      }),
    );
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new CalibrationError('invalidMeasurement', `${path}: ${error.message.slice(0, MOST_MESSAGE)}`);
  }
}

function readText(path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    throw new CalibrationError('unreadable', `${path}: ${reasonOf(error)}`);
  }
}
