import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { packageRoot } from '../../simulator/files/index.js';
import {
  calibrationReport,
  comparison,
  largestBuffer,
  measuredSet,
  type CalibratedLaunch,
  type MeasuredLaunch,
  type MeasuredSet,
} from '../../simulator/laboratory/calibration/index.js';
import { MECHANISMS } from '../../simulator/gpu/testing/index.js';
import type { DeviceProfile } from '../../simulator/gpu/index.js';
import { ModelEvaluator } from './modelEvaluator.js';

/** One measured launch, and what the model tells of it, whole and without each mechanism by name. */
export interface AblatedLaunch {
  readonly set: MeasuredSet;
  readonly name: string;
  readonly kernel: string;
  readonly measuredUs: number;
  readonly simulatedUs: number;
  readonly withoutUs: Readonly<Record<string, number>>;
}

export interface SetErrors {
  readonly launches: number;
  readonly kernels: number;
  /** Mean over kernels of their mean errors. */
  readonly mean: number;
  readonly median: number;
  readonly withinQuarter: number;
  readonly worst: number;
}

/** @param largest elements of a launch's largest buffer, above which it is left out */
export function launchesOf(set: MeasuredSet, largest: number): MeasuredLaunch[] {
  return measuredSet(packageRoot(), set).filter((launch) => largestBuffer(launch) <= largest);
}

/** Of each kernel the launch of middle length. */
export function middleLaunches(launches: readonly MeasuredLaunch[]): MeasuredLaunch[] {
  const byKernel = new Map<string, MeasuredLaunch[]>();
  for (const launch of launches) {
    const { kernel } = launch.spec;
    byKernel.set(kernel, [...(byKernel.get(kernel) ?? []), launch]);
  }
  return [...byKernel.values()].map((own) => {
    const sorted = [...own].sort((a, b) => a.durationUs - b.durationUs);
    return sorted[sorted.length >> 1];
  });
}

export function ablate(set: MeasuredSet, launch: MeasuredLaunch, card: DeviceProfile): AblatedLaunch {
  const evaluator = new ModelEvaluator([launch]);
  const [{ name, kernel, measuredUs, simulatedUs }] = evaluator.evaluate(card);
  const withoutUs = MECHANISMS.map((mechanism) => {
    const [without] = evaluator.evaluate(mechanism.without(card));
    return [mechanism.name, without.simulatedUs] as const;
  });
  return { set, name, kernel, measuredUs, simulatedUs, withoutUs: Object.fromEntries(withoutUs) };
}

/** What runs left in a file, a line a launch, so that one that is broken off goes on where it was. */
export class AblatedFile {
  readonly known = new Map<string, AblatedLaunch>();

  constructor(private readonly path: string) {
    if (!existsSync(path)) return;
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      if (line === '') continue;
      const launch = JSON.parse(line) as AblatedLaunch;
      this.known.set(`${launch.set}/${launch.name}`, launch);
    }
  }

  add(launch: AblatedLaunch): void {
    this.known.set(`${launch.set}/${launch.name}`, launch);
    appendFileSync(this.path, `${JSON.stringify(launch)}\n`);
  }
}

/** Errors under the whole model, or without a mechanism. */
export function setErrors(launches: readonly AblatedLaunch[], without?: string): SetErrors {
  const compared: CalibratedLaunch[] = launches.map(
    ({ name, kernel, measuredUs, simulatedUs, withoutUs }) => ({
      name,
      kernel,
      ...comparison(measuredUs, without === undefined ? simulatedUs : withoutUs[without]),
    }),
  );
  const { kernels, meanOfKernels, medianError, withinQuarter, worst } = calibrationReport(compared);
  return {
    launches: launches.length,
    kernels: kernels.length,
    mean: meanOfKernels,
    median: medianError,
    withinQuarter,
    worst: worst.error,
  };
}
