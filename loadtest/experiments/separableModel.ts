import { comparison, type CalibratedLaunch } from '../../simulator/laboratory/calibration/index.js';
import type { FittedFigure } from './fittedFigures.js';
import type { Evaluate } from './figureSearch.js';

/** Factors at which each figure's effect on each launch is taken; between and beyond them it goes on straight, in logarithms. */
const FACTORS = [0.8, 1, 1.2];

/**
 * A stand-in for the model that a search may ask thousands of times: each figure, moved alone, changes a launch's time by a
 * factor, and figures that move together by the product of their factors.
 * @param evaluate the model itself, asked twice a figure
 */
export function separableModel(figures: readonly FittedFigure[], evaluate: Evaluate): Evaluate {
  const values = Object.fromEntries(figures.map(({ name, value }) => [name, value]));
  const base = evaluate(values);
  // By figure, then factor, then launch: the logarithm of what the launch takes more.
  const effects = figures.map(({ name, value }) =>
    FACTORS.map((factor) =>
      factor === 1
        ? base.map(() => 0)
        : evaluate({ ...values, [name]: value * factor }).map(({ simulatedUs }, launch) =>
            Math.log(simulatedUs / base[launch].simulatedUs),
          ),
    ),
  );
  return (asked) =>
    base.map(({ name, kernel, measuredUs, simulatedUs }, launch): CalibratedLaunch => {
      let effect = 0;
      figures.forEach((figure, index) => {
        const factor = asked[figure.name] / figure.value;
        if (factor !== 1) effect += between(effects[index], launch, factor);
      });
      return { name, kernel, ...comparison(measuredUs, simulatedUs * Math.exp(effect)) };
    });
}

function between(effects: readonly (readonly number[])[], launch: number, factor: number): number {
  let right = FACTORS.findIndex((each) => each >= factor);
  if (right < 1) right = right === 0 ? 1 : FACTORS.length - 1;
  const from = Math.log(FACTORS[right - 1]);
  const part = (Math.log(factor) - from) / (Math.log(FACTORS[right]) - from);
  const left = effects[right - 1][launch];
  return left + part * (effects[right][launch] - left);
}

/** What `separableModel` asks: the values as they are, and each figure moved alone. */
export function askedValues(figures: readonly FittedFigure[]): Record<string, number>[] {
  const values = Object.fromEntries(figures.map(({ name, value }) => [name, value]));
  const moved = figures.flatMap(({ name, value }) =>
    FACTORS.filter((factor) => factor !== 1).map((factor) => ({ ...values, [name]: value * factor })),
  );
  return [values, ...moved];
}
