import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { calibrate, measuredLaunches } from '../../simulator/laboratory/calibration/index.js';
import { cardNamed } from '../../simulator/gpu/index.js';
import { fittedFigures, withFigures } from './fittedFigures.js';
import { ModelEvaluator } from './modelEvaluator.js';

const LAUNCHES = fileURLToPath(new URL('../../simulator/gpu/reference/launches', import.meta.url));
const NAMES = ['saxpy__n-16384-a-1-5', 'transpose__rows-cols-256', 'dense_relu__batch-8-in-784-out-10'];

const card = cardNamed('h200');
const launches = measuredLaunches(LAUNCHES).filter(({ name }) => NAMES.includes(name));

describe('the evaluator of the timing model', () => {
  it('tells what running the launches tells, the first time and from what it kept', () => {
    const run = calibrate(launches, {}).map(({ simulatedUs }) => simulatedUs);
    const evaluator = new ModelEvaluator(launches);
    const first = evaluator.evaluate(card.profile);
    expect(first.map(({ simulatedUs }) => Math.round(simulatedUs * 1000) / 1000)).toEqual(run);
    expect(evaluator.evaluate(card.profile)).toEqual(first);
  });

  it('works on kept traces as on new ones, whatever the figures are', () => {
    const one = launches.filter(({ spec }) => spec.kernel === 'dense_relu');
    const used = new ModelEvaluator(one);
    used.evaluate(card.profile);
    for (const { name, value } of fittedFigures(card)) {
      const changed = withFigures(card.profile, { [name]: value * 1.2 });
      expect(used.evaluate(changed), name).toEqual(new ModelEvaluator(one).evaluate(changed));
    }
  });

  it('finds the fitted figures by their source', () => {
    const names = fittedFigures(card).map(({ name }) => name);
    expect(names).toContain('overlapExponent');
    expect(names).toContain('l2BytesPerSecond');
    expect(names).not.toContain('float32PerCycle');
    expect(names).not.toContain('l2MissCurve');
  });
});
