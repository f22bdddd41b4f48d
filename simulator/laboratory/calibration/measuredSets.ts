import { join } from 'node:path';
import { CalibrationError } from './calibrationError.js';
import { SHAPE_COLUMNS, readLaunchRules } from './launchRules.js';
import { launchOf, measuredLaunches, type MeasuredLaunch } from './measuredLaunches.js';
import { readMeasurements } from './measuredTable.js';

/** Launches measured on an H200 that come with Windjammer. */
export const MEASURED_SETS = ['reference', 'validation', 'heldOut', 'tensor'] as const;
export type MeasuredSet = (typeof MEASURED_SETS)[number];

/**
 * Launches of a set: those of the reference are written out as launch specs, the others come from their table by rules.
 * @param root of the repository or package
 * @throws CalibrationError
 */
export function measuredSet(root: string, set: MeasuredSet): MeasuredLaunch[] {
  if (set === 'reference') return measuredLaunches(join(root, 'simulator/gpu/reference/launches'));
  const folder = join(root, 'simulator/laboratory/launches', set);
  return measuredByRules(join(folder, `h200-${set}.csv`), join(folder, 'rules'));
}

/**
 * Launches of a CSV file, in its order, with the specs that the rules of a folder make of their lines; columns as for
 * `measuredByTable`, and `grid`, `block` (`XxYxZ`) and `dynamic_shared_bytes`.
 * @throws CalibrationError with file, line and column
 */
export function measuredByRules(path: string, folder: string): MeasuredLaunch[] {
  const rules = readLaunchRules(folder);
  return readMeasurements(path, SHAPE_COLUMNS).map((measurement) => {
    const { launch, place } = measurement;
    const [rule, ...more] = rules.filter((candidate) => candidate.isOf(launch));
    if (rule === undefined || more.length > 0) {
      const found = rule === undefined ? 'no rule' : `${more.length + 1} rules`;
      throw new CalibrationError(
        'invalidMeasurement',
        `${place}: column launch: ${found} in ${folder} for '${launch}'; it takes one whose launches are named so`,
      );
    }
    return launchOf(measurement, rule.specOf(measurement), folder);
  });
}
