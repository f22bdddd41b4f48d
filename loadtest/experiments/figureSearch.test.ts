import { describe, expect, it } from 'vitest';
import {
  coordinateSearch,
  fitsWithoutEach,
  leftOut,
  remembered,
  sensitivities,
  type Values,
} from './figureSearch.js';

const FIGURES = [
  { name: 'speed', value: 10 },
  { name: 'start', value: 4 },
];

/** Two kernels whose times are right at a speed of 12.5 and a start of 4, and one that wants a start of 5. */
function model({ speed, start }: Values) {
  const launch = (kernel: string, measuredUs: number, simulatedUs: number) => ({
    name: kernel,
    kernel,
    measuredUs,
    simulatedUs,
    error: simulatedUs / measuredUs - 1,
  });
  return [
    launch('long', 100 / 12.5, 100 / speed),
    launch('longer', 200 / 12.5, 200 / speed),
    launch('short', 5, start),
  ];
}

describe('figures that were fitted', () => {
  it('are found again by the search, step by step', () => {
    const found = coordinateSearch(
      FIGURES,
      (values) => model(values).reduce((sum, { error }) => sum + Math.abs(error), 0),
      2,
    );
    expect(found['speed']).toBeCloseTo(12.5);
    expect(found['start']).toBeCloseTo(5);
  });

  it('stay within a half of what they were', () => {
    const found = coordinateSearch(FIGURES, ({ speed }) => -speed, 9);
    expect(found['speed']).toBeGreaterThan(12);
    expect(found['speed']).toBeLessThanOrEqual(15);
    expect(found['start']).toBe(4);
  });

  it('have a sensitivity each, in mean error over kernels', () => {
    const [speed, start] = sensitivities(FIGURES, model);
    // 25 % too slow for two of three kernels; at 8 it is 56 %, at 12 4 %.
    expect(speed.lower).toBeCloseTo((2 * (12.5 / 8 - 12.5 / 10)) / 3);
    expect(speed.higher).toBeCloseTo((2 * (12.5 / 12 - 12.5 / 10)) / 3);
    expect(start.lower).toBeCloseTo((0.36 - 0.2) / 3);
    expect(start.higher).toBeCloseTo((0.04 - 0.2) / 3);
  });

  it('are fitted without a kernel, which is then told with what the others say', () => {
    let evaluations = 0;
    const evaluate = remembered((values) => {
      evaluations += 1;
      return model(values);
    });
    const [long, , short] = fitsWithoutEach(FIGURES, evaluate, 1).map((fit) =>
      leftOut(FIGURES, fit, evaluate),
    );
    expect(long).toMatchObject({ kernel: 'long', moved: { speed: 1.25, start: 1.25 } });
    expect(long.withIt).toBeCloseTo(0.25);
    expect(long.withoutIt).toBeCloseTo(0);
    expect(short).toMatchObject({ kernel: 'short', moved: { speed: 1.25 } });
    expect(short.withoutIt).toBeCloseTo(0.2);
    // Three searches go the same way and ask once.
    expect(evaluations).toBeLessThan(8);
  });
});
