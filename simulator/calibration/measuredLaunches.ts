import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse, CsvError } from 'csv-parse/sync';
import { readTextFile } from '../files/index.js';
import { LaunchSpecError, checkLaunchSpec, readSpec, type LaunchSpec } from '../launchSpec/index.js';
import { CalibrationError } from './calibrationError.js';

/** A launch that ran on a card, and how long it took there. */
export interface MeasuredLaunch {
  /** The spec's file name without `.json`. */
  readonly name: string;
  readonly spec: LaunchSpec;
  /** Where the spec's paths start. */
  readonly folder: string;
  readonly durationUs: number;
  /** Interval between launches of a chain in one graph. */
  readonly backToBackUs?: number;
}

interface MeasuredSpec {
  readonly name: string;
  readonly spec: LaunchSpec;
}

/** A nanosecond, and a quarter of an hour: what is outside has another unit. */
const SHORTEST_US = 1e-3;
const LONGEST_US = 1e9;

/**
 * The launch specs of a folder that say how long the card took (`expect.durationUs`), in the order of their names.
 * @throws CalibrationError `unreadable` for a folder or file, `nothingMeasured` when no spec has a duration.
 */
export function measuredLaunches(folder: string): MeasuredLaunch[] {
  const measured = specsOf(folder).flatMap(({ name, spec }) => {
    const { durationUs, backToBackUs } = spec.expect ?? {};
    if (durationUs === undefined) return [];
    const place = join(folder, `${name}.json`);
    checkTime(durationUs, String(durationUs), `${place}: expect.durationUs`);
    if (backToBackUs !== undefined) {
      checkTime(backToBackUs, String(backToBackUs), `${place}: expect.backToBackUs`);
    }
    return [{ name, spec, folder, durationUs, ...(backToBackUs === undefined ? {} : { backToBackUs }) }];
  });
  if (measured.length > 0) return measured;
  throw new CalibrationError(
    'nothingMeasured',
    `${folder}: no launch spec with expect.durationUs; give durations as CSV with --from`,
  );
}

/**
 * Launch specs of a folder with the durations of a CSV file: a header, then `launch` (a spec's file name without `.json`),
 * `duration_us` and, if it is there, `back_to_back_us` a line, in any order of columns; others are not looked at, and lines
 * that start with `#` are skipped. Of the folder, the specs that are named are read.
 * @throws CalibrationError with file, line and column.
 */
export function measuredByTable(path: string, folder: string): MeasuredLaunch[] {
  const rows = readTable(path);
  const files = new Set(listSpecs(folder));
  const seen = new Map<string, number>();
  return rows.map(({ line, launch, duration, backToBack }) => {
    const place = `${path}:${line}`;
    if (!files.has(`${launch}.json`)) {
      const hint = files.has(launch) ? "; give the spec's name without .json" : '';
      throw new CalibrationError(
        'invalidMeasurement',
        `${place}: column launch: there is no ${join(folder, `${launch}.json`)}${hint}`,
      );
    }
    const before = seen.get(launch);
    if (before !== undefined) {
      throw new CalibrationError(
        'invalidMeasurement',
        `${place}: column launch: '${launch}' stands in line ${before} already`,
      );
    }
    seen.set(launch, line);
    const durationUs = time(duration, `${place}: column ${DURATION}`);
    const intervals =
      backToBack.trim() === '' ? {} : { backToBackUs: time(backToBack, `${place}: column ${BACK_TO_BACK}`) };
    return { name: launch, spec: readOne(folder, `${launch}.json`), folder, durationUs, ...intervals };
  });
}

const DURATION = 'duration_us';
const BACK_TO_BACK = 'back_to_back_us';

function time(text: string, place: string): number {
  const isDecimal = /^\s*\d*\.?\d*([eE][-+]?\d+)?\s*$/.test(text) && text.trim() !== '';
  return checkTime(isDecimal ? Number(text) : NaN, text, place);
}

function checkTime(us: number, text: string, place: string): number {
  if (us >= SHORTEST_US && us <= LONGEST_US) return us;
  throw new CalibrationError(
    'invalidMeasurement',
    `${place}: '${text}' is not a number of microseconds, ${SHORTEST_US} to ${LONGEST_US}`,
  );
}

interface TableRow {
  readonly line: number;
  readonly launch: string;
  readonly duration: string;
  /** Empty where none was measured. */
  readonly backToBack: string;
}

function readTable(path: string): TableRow[] {
  const rows = parseTable(path);
  const heads = rows[0]?.cells ?? [];
  const header = `${path}:${rows[0]?.line ?? 1}`;
  const findColumn = (name: string): number => {
    const column = heads.indexOf(name);
    if (column === heads.lastIndexOf(name)) return column;
    throw new CalibrationError(
      'invalidMeasurement',
      `${header}: column '${name}' is there more than once; keep one of them`,
    );
  };
  const columnOf = (name: string): number => {
    const column = findColumn(name);
    if (column >= 0) return column;
    throw new CalibrationError(
      'invalidMeasurement',
      `${header}: no column '${name}' in the header; there are: ${heads.join(', ') || 'none'}`,
    );
  };
  const launch = columnOf('launch');
  const duration = columnOf(DURATION);
  const interval = findColumn(BACK_TO_BACK);
  const below = rows.slice(1);
  if (below.length === 0) throw new CalibrationError('nothingMeasured', `${path}: no lines below the header`);
  return below.map(({ line, cells }) => ({
    line,
    launch: cells[launch].trim(),
    duration: cells[duration],
    backToBack: interval < 0 ? '' : cells[interval],
  }));
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

function specsOf(folder: string): MeasuredSpec[] {
  return listSpecs(folder).map((file) => ({
    name: file.slice(0, -'.json'.length),
    spec: readOne(folder, file),
  }));
}

function readOne(folder: string, file: string): LaunchSpec {
  const path = join(folder, file);
  try {
    return checkLaunchSpec(readSpec(path));
  } catch (error) {
    if (!(error instanceof LaunchSpecError)) throw error;
    const where = error.code === 'unreadableFile' ? '' : `${path}: `;
    throw new CalibrationError('unreadable', `${where}${error.message}`);
  }
}

function listSpecs(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .sort();
  } catch (error) {
    throw new CalibrationError(
      'unreadable',
      `launches: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function readText(path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    throw new CalibrationError(
      'unreadable',
      `${path}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
