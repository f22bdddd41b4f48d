import { calibrationReport, type CalibratedLaunch } from '../../simulator/laboratory/calibration/index.js';
import type { FittedFigure } from './fittedFigures.js';

export type Values = Readonly<Record<string, number>>;

/** Tells each launch's error under given values of the fitted figures. */
export type Evaluate = (values: Values) => readonly CalibratedLaunch[];

/** The same, that asks once for equal values: searches that leave out different kernels go over the same ground. */
export function remembered(evaluate: Evaluate): Evaluate {
  const known = new Map<string, readonly CalibratedLaunch[]>();
  return (values) => {
    const key = JSON.stringify(values);
    let launches = known.get(key);
    if (launches === undefined) known.set(key, (launches = evaluate(values)));
    return launches;
  };
}

export interface Sensitivity extends FittedFigure {
  /** Mean error over kernels with the figure a fifth lower and higher, less that with its own value. */
  readonly lower: number;
  readonly higher: number;
}

export function sensitivities(figures: readonly FittedFigure[], evaluate: Evaluate): Sensitivity[] {
  const values = valuesOf(figures);
  const base = meanError(evaluate(values));
  const moved = ({ name, value }: FittedFigure, factor: number): number =>
    meanError(evaluate({ ...values, [name]: value * factor })) - base;
  return figures.map((figure) => ({ ...figure, lower: moved(figure, 0.8), higher: moved(figure, 1.2) }));
}

export interface LeftOut {
  readonly kernel: string;
  /** Mean error on its launches with the figures as they are, and fitted without it. */
  readonly withIt: number;
  readonly withoutIt: number;
  /** Figures that the fit without it moved, by factor. */
  readonly moved: Values;
}

/** What a fit without one kernel found. */
export interface FitWithout {
  readonly kernel: string;
  readonly found: Values;
}

/** Fits the figures again without one kernel at a time. */
export function fitsWithoutEach(
  figures: readonly FittedFigure[],
  evaluate: Evaluate,
  rounds: number,
): FitWithout[] {
  const kernels = [...new Set(evaluate(valuesOf(figures)).map(({ kernel }) => kernel))].sort();
  return kernels.map((kernel) => {
    const others = (launches: readonly CalibratedLaunch[]) =>
      launches.filter((each) => each.kernel !== kernel);
    return {
      kernel,
      found: coordinateSearch(figures, (at) => meanError(others(evaluate(at))), rounds),
    };
  });
}

/** The error on a kernel that a fit did without. */
export function leftOut(
  figures: readonly FittedFigure[],
  { kernel, found }: FitWithout,
  evaluate: Evaluate,
): LeftOut {
  const own = (at: Values) => meanError(evaluate(at).filter((each) => each.kernel === kernel));
  return {
    kernel,
    withIt: own(valuesOf(figures)),
    withoutIt: own(found),
    moved: Object.fromEntries(
      figures
        .filter(({ name, value }) => found[name] !== value)
        .map(({ name, value }) => [name, found[name] / value]),
    ),
  };
}

/** Steps of the rounds, as factors; a figure stays within a half of where it started. */
const STEPS = [1.25, 1.1, 1.05];
const FURTHEST = 0.5;
/** Differences below come from where in virtual time a launch starts. */
const NOISE = 1e-9;

/** Whether the figure changes any of the launches enough to be fitted on them. */
export function isFelt({ lower, higher }: Sensitivity): boolean {
  return Math.abs(lower) > NOISE || Math.abs(higher) > NOISE;
}

/**
 * Moves one figure after the other, up and down by a step, and keeps what makes the cost smaller; the steps get shorter
 * from round to round. The same each time.
 */
export function coordinateSearch(
  figures: readonly FittedFigure[],
  cost: (values: Values) => number,
  rounds: number,
): Values {
  let best: Values = valuesOf(figures);
  let least = cost(best);
  for (let round = 0; round < rounds; round++) {
    const step = STEPS[Math.min(round, STEPS.length - 1)];
    for (const { name, value } of figures) {
      const from = best;
      for (const factor of [step, 1 / step]) {
        const next = from[name] * factor;
        if (Math.abs(next / value - 1) > FURTHEST) continue;
        const candidate = { ...from, [name]: next };
        const found = cost(candidate);
        if (found < least - NOISE) {
          least = found;
          best = candidate;
        }
      }
    }
  }
  return best;
}

/** Over kernels, of the means over their launches. */
export function meanError(launches: readonly CalibratedLaunch[]): number {
  return calibrationReport(launches).meanOfKernels;
}

function valuesOf(figures: readonly FittedFigure[]): Values {
  return Object.fromEntries(figures.map(({ name, value }) => [name, value]));
}
