import { expect, it } from 'vitest';
import { KeyedDraw, type Json } from '../../selection/index.js';
import { SPREAD } from './lossStreams.js';
import { runModelFailure } from './modelFailureExperiment.js';

const DIGITS = 500;
const SEED = 4;
const settings = {
  queries: 6000,
  every: 1500,
  failure: { model: 'model 4', from: 1500, until: 3000 },
};

/** Labels by lot, and five models that are wrong now and then, each on its own digits. */
const draw = new KeyedDraw(SEED);
const truth = Uint8Array.from({ length: DIGITS }, (_, at) => Math.floor(draw.of(`truth ${at}`)() * 10));
const models = SPREAD.map((error, model) => ({
  name: `model ${model}`,
  labels: truth.map((label, at) => {
    const next = draw.of(`${model} on ${at}`);
    return next() < error ? (label + 1 + Math.floor(next() * 9)) % 10 : label;
  }),
}));

function errorOf(name: string, parameters: Json): readonly number[] {
  return runModelFailure(settings, models, truth, { name, parameters }, SEED).cumulative;
}

it('shows exp4 and exp3 below every static choice when the best model fails for a while', () => {
  const statics = models.map(({ name }) => errorOf('static', { model: name }));
  const lowest = Math.min(...statics.map((curve) => curve[3]));
  const failing = statics[4];
  expect(failing[0]).toBeLessThan(0.25);
  expect(failing[1]).toBeGreaterThan(0.5);
  expect(failing[3]).toBeGreaterThan(lowest);
  const exp4 = errorOf('exp4', {});
  expect(exp4[0]).toBeLessThan(failing[0]);
  expect(exp4[3]).toBeLessThan(lowest - 0.05);
  expect(errorOf('exp3', {})[3]).toBeLessThan(lowest);
});

it('gives the same run twice', () => {
  expect(errorOf('exp3', {})).toEqual(errorOf('exp3', {}));
});
