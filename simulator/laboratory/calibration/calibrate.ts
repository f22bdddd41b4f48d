import { runLaunchSpec, type LaunchSpecOptions } from '../../launchSpec/index.js';
import { comparison, type CalibratedLaunch } from './calibrationReport.js';
import { largestCount } from './launchRules.js';
import type { MeasuredLaunch } from './measuredLaunches.js';

/**
 * Runs measured launches on the simulated card, one after the other, each warm from an equal one before it.
 * @param options as for one launch; `device` in place of the one that each spec names, `backToBack` for intervals where
 * they were measured
 * @param onLaunch hears of each before it runs
 * @throws LaunchSpecError with the spec's name in its message, when one does not run.
 */
export function calibrate(
  launches: readonly MeasuredLaunch[],
  options: LaunchSpecOptions,
  onLaunch?: (launch: MeasuredLaunch, index: number) => void,
): CalibratedLaunch[] {
  return launches.map((launch, index) => {
    onLaunch?.(launch, index);
    const { name, spec, folder, durationUs, backToBackUs } = launch;
    const simulated = runLaunchSpec(spec, folder, {
      ...options,
      backToBack: options.backToBack === true && backToBackUs !== undefined,
    });
    return {
      name,
      kernel: spec.kernel,
      ...comparison(durationUs, simulated.durationUs),
      ...(backToBackUs === undefined || simulated.backToBackUs === undefined
        ? {}
        : { backToBack: comparison(backToBackUs, simulated.backToBackUs) }),
    };
  });
}

/** Elements of a launch's largest buffer: what decides how much memory its run takes. */
export function largestBuffer({ spec }: MeasuredLaunch): number {
  return largestCount(spec);
}
