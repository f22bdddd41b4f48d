import { mean } from '../../statistics/index.js';

export interface Comparison {
  readonly measuredUs: number;
  readonly simulatedUs: number;
  /** Simulated over measured, less 1. */
  readonly error: number;
}

/** One launch on the card and on the simulated one: its duration, and its interval in a chain where that was asked for. */
export interface CalibratedLaunch extends Comparison {
  readonly name: string;
  readonly kernel: string;
  readonly backToBack?: Comparison;
}

export interface KernelErrors {
  readonly kernel: string;
  readonly launches: number;
  /** Mean of the sizes of its launches' errors. */
  readonly meanError: number;
  readonly worstError: number;
  /**
   * Least-squares slope of simulated over measured time through its launches, an offset left free: fixed costs aside, how
   * much longer more work takes. Undefined for fewer than two durations.
   */
  readonly slope?: number;
}

export interface CalibrationReport {
  readonly launches: readonly CalibratedLaunch[];
  readonly kernels: readonly KernelErrors[];
  /** Mean over kernels of their mean errors: a kernel measured often counts once. */
  readonly meanOfKernels: number;
  readonly medianError: number;
  readonly worst: CalibratedLaunch;
  /** Share of launches within a quarter of the card's time. */
  readonly withinQuarter: number;
  /** Mean of |simulated - measured| over the smaller of both. */
  readonly meanSymmetricError: number;
  /** Mean over kernels of the mean sizes of their intervals' errors. */
  readonly backToBackMeanOfKernels?: number;
}

export function comparison(measuredUs: number, simulatedUs: number): Comparison {
  return { measuredUs, simulatedUs, error: simulatedUs / measuredUs - 1 };
}

/** @param launches at least one */
export function calibrationReport(launches: readonly CalibratedLaunch[]): CalibrationReport {
  const kernels = byKernel(launches);
  const sizes = launches.map(sizeOf).sort((a, b) => a - b);
  const intervals = launches.flatMap(({ kernel, name, backToBack }) =>
    backToBack === undefined ? [] : [{ kernel, name, ...backToBack }],
  );
  return {
    launches,
    kernels,
    meanOfKernels: mean(kernels.map(({ meanError }) => meanError)),
    medianError: (sizes[Math.floor((sizes.length - 1) / 2)] + sizes[Math.floor(sizes.length / 2)]) / 2,
    worst: launches.reduce((worst, next) => (sizeOf(next) > sizeOf(worst) ? next : worst)),
    withinQuarter: sizes.filter((size) => size <= 0.25).length / sizes.length,
    meanSymmetricError: mean(
      launches.map(
        ({ measuredUs, simulatedUs }) =>
          Math.abs(simulatedUs - measuredUs) / Math.min(simulatedUs, measuredUs),
      ),
    ),
    ...(intervals.length === 0
      ? {}
      : { backToBackMeanOfKernels: mean(byKernel(intervals).map(({ meanError }) => meanError)) }),
  };
}

function byKernel(launches: readonly CalibratedLaunch[]): KernelErrors[] {
  const groups = new Map<string, CalibratedLaunch[]>();
  for (const launch of launches) groups.set(launch.kernel, [...(groups.get(launch.kernel) ?? []), launch]);
  return [...groups]
    .map(([kernel, own]) => {
      const slope = slopeOf(own);
      return {
        kernel,
        launches: own.length,
        meanError: mean(own.map(sizeOf)),
        worstError: Math.max(...own.map(sizeOf)),
        ...(slope === undefined ? {} : { slope }),
      };
    })
    .sort((a, b) => (a.kernel < b.kernel ? -1 : 1));
}

function slopeOf(launches: readonly CalibratedLaunch[]): number | undefined {
  const x = mean(launches.map(({ measuredUs }) => measuredUs));
  const y = mean(launches.map(({ simulatedUs }) => simulatedUs));
  let above = 0;
  let below = 0;
  for (const { measuredUs, simulatedUs } of launches) {
    above += (measuredUs - x) * (simulatedUs - y);
    below += (measuredUs - x) ** 2;
  }
  return below > 0 ? above / below : undefined;
}

function sizeOf({ error }: CalibratedLaunch): number {
  return Math.abs(error);
}
