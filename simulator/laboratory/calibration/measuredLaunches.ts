import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LaunchSpecError, checkLaunchSpec, readSpec, type LaunchSpec } from '../../launchSpec/index.js';
import { reasonOf } from '../../text/index.js';
import { CalibrationError } from './calibrationError.js';
import { checkTime, readMeasurements, type Measurement } from './measuredTable.js';

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
  const files = new Set(listSpecs(folder));
  return readMeasurements(path).map((measurement) => {
    const { launch, place } = measurement;
    if (!files.has(`${launch}.json`)) {
      const hint = files.has(launch) ? "; give the spec's name without .json" : '';
      throw new CalibrationError(
        'invalidMeasurement',
        `${place}: column launch: there is no ${join(folder, `${launch}.json`)}${hint}`,
      );
    }
    return launchOf(measurement, readOne(folder, `${launch}.json`), folder);
  });
}

function specsOf(folder: string): MeasuredSpec[] {
  return listSpecs(folder).map((file) => ({
    name: file.slice(0, -'.json'.length),
    spec: readOne(folder, file),
  }));
}

/** A line of a table with its launch. @param folder where the spec's paths start */
export function launchOf(
  { launch, durationUs, backToBackUs }: Measurement,
  spec: LaunchSpec,
  folder: string,
): MeasuredLaunch {
  return { name: launch, spec, folder, durationUs, ...(backToBackUs === undefined ? {} : { backToBackUs }) };
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
    throw new CalibrationError('unreadable', `launches: ${reasonOf(error)}`);
  }
}
