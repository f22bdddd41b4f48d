import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse, CsvError } from 'csv-parse/sync';
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

/**
 * The launch specs of a folder that say how long the card took (`expect.durationUs`), in the order of their names.
 * @throws CalibrationError `unreadable` for a folder or file, `nothingMeasured` when no spec has a duration.
 */
export function measuredLaunches(folder: string): MeasuredLaunch[] {
  const measured = specsOf(folder).flatMap(({ name, spec }) => {
    const { durationUs, backToBackUs } = spec.expect ?? {};
    if (durationUs === undefined) return [];
    return [{ name, spec, folder, durationUs, ...(backToBackUs === undefined ? {} : { backToBackUs }) }];
  });
  if (measured.length > 0) return measured;
  throw new CalibrationError(
    'nothingMeasured',
    `${folder}: no launch spec with expect.durationUs; give durations as CSV with --from`,
  );
}

/**
 * Launch specs of a folder with the durations of a CSV file: a header, then `launch` (a spec's file name without `.json`) and
 * `duration_us` a line, in any order of columns; others are not looked at, and lines that start with `#` are skipped.
 * @throws CalibrationError with file, line and column.
 */
export function measuredByTable(path: string, folder: string): MeasuredLaunch[] {
  const rows = readTable(path);
  const byName = new Map(specsOf(folder).map((each) => [each.name, each]));
  const seen = new Map<string, number>();
  return rows.map(({ line, launch, duration }) => {
    const place = `${path}:${line}`;
    const found = byName.get(launch);
    if (found === undefined) {
      throw new CalibrationError(
        'invalidMeasurement',
        `${place}: column launch: there is no ${join(folder, `${launch}.json`)}`,
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
    const durationUs = duration.trim() === '' ? NaN : Number(duration);
    if (!(durationUs > 0) || durationUs === Infinity) {
      throw new CalibrationError(
        'invalidMeasurement',
        `${place}: column duration_us: '${duration}' is not a number above 0, in microseconds`,
      );
    }
    return { ...found, folder, durationUs };
  });
}

interface TableRow {
  readonly line: number;
  readonly launch: string;
  readonly duration: string;
}

function readTable(path: string): TableRow[] {
  const rows = parseTable(path);
  const heads = rows[0]?.cells ?? [];
  const columnOf = (name: string): number => {
    const column = heads.indexOf(name);
    if (column >= 0) return column;
    throw new CalibrationError(
      'invalidMeasurement',
      `${path}:${rows[0]?.line ?? 1}: no column '${name}' in the header; there are: ${heads.join(', ') || 'none'}`,
    );
  };
  const launch = columnOf('launch');
  const duration = columnOf('duration_us');
  const below = rows.slice(1);
  if (below.length === 0) throw new CalibrationError('nothingMeasured', `${path}: no lines below the header`);
  return below.map(({ line, cells }) => ({ line, launch: cells[launch].trim(), duration: cells[duration] }));
}

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
    throw new CalibrationError('invalidMeasurement', `${path}: ${error.message}`);
  }
}

function specsOf(folder: string): MeasuredSpec[] {
  return listSpecs(folder).map((file) => {
    const path = join(folder, file);
    try {
      return { name: file.slice(0, -'.json'.length), spec: checkLaunchSpec(readSpec(path)) };
    } catch (error) {
      if (!(error instanceof LaunchSpecError)) throw error;
      const where = error.code === 'unreadableFile' ? '' : `${path}: `;
      throw new CalibrationError('unreadable', `${where}${error.message}`);
    }
  });
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
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CalibrationError(
      'unreadable',
      `from: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
