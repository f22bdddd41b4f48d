import { describe, expect, it } from 'vitest';
import { predictions } from '../evaluation/digitModel.js';
import { BUILT_IN_MODELS, builtInModelPath, loadKernelModel, type BuiltInModel } from '../kernelModel.js';
import { degradedModels } from './degradedModels.js';
import { digitModels } from './digitModels.js';
import { CLASSES, PIXELS, digitAt, loadDigits, type DigitSet } from './digits.js';
import { Draws } from './draws.js';
import { drawnSubset, strokeExamples } from './examples.js';
import { trainForest } from './forest.js';
import { trainLinearSvm } from './linearSvm.js';
import { trainNetwork } from './network.js';
import { LINEAR_SVM_PLAN, RADIAL_PLAN } from './plans.js';
import { trainRadialMachine } from './radialMachine.js';

const split = loadDigits();
const { training, heldOut } = split;

/** Share of the held-out digits for which most of the labels are right; of equally many, the smallest label counts. */
function majorityAccuracy(labels: readonly Uint8Array[]): number {
  let right = 0;
  for (let k = 0; k < heldOut.count; k++) {
    const votes = new Array<number>(CLASSES).fill(0);
    for (const model of labels) votes[model[k]] += 1;
    if (votes.indexOf(Math.max(...votes)) === heldOut.labels[k]) right += 1;
  }
  return right / heldOut.count;
}

describe('digits', () => {
  it('hold out the last fifth of each class', () => {
    expect(training.count + heldOut.count).toBe(10_000);
    for (let label = 0; label < CLASSES; label++) {
      const kept = training.labels.filter((other) => other === label).length;
      const out = heldOut.labels.filter((other) => other === label).length;
      expect(kept).toBe(Math.floor(0.8 * (kept + out)));
    }
    expect(heldOut.pixels.every((value) => value >= 0 && value <= 1)).toBe(true);
  });
});

describe('committed weights', () => {
  const FLOORS: Readonly<Record<BuiltInModel, number>> = {
    'digits-logistic': 0.89,
    'digits-mlp': 0.935,
    'digits-linear-svm': 0.88,
    'digits-rbf-svm': 0.92,
    'digits-random-forest': 0.92,
  };
  const models = digitModels(split);

  it.each(BUILT_IN_MODELS)('of %s label enough of the held-out digits right', (name) => {
    const model = models.find((candidate) => candidate.name === name);
    expect(1 - (model?.error ?? NaN)).toBeGreaterThanOrEqual(FLOORS[name]);
  });

  it('vote at most half a point below the best of them', () => {
    const best = 1 - Math.min(...models.map(({ error }) => error));
    const majority = majorityAccuracy(models.map((model) => predictions(model, heldOut)));
    expect(majority).toBeGreaterThanOrEqual(best - 0.005);
  });

  it('take less than 1.5 MB, and no more than 250 centres', () => {
    const bytes = BUILT_IN_MODELS.map((name) => [
      ...loadKernelModel(builtInModelPath(name)).weights.values(),
    ]).flat();
    expect(bytes.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(1_500_000);
    const { manifest } = loadKernelModel(builtInModelPath('digits-rbf-svm'));
    expect(manifest.constants.centreCount).toBeLessThanOrEqual(250);
  });
});

describe('degraded models', () => {
  const models = degradedModels(split);

  it('are the five, with errors spread from 0.20 to 0.45', () => {
    expect(models.map(({ name }) => name).sort()).toEqual([...BUILT_IN_MODELS].sort());
    const errors = models.map(({ error }) => error);
    expect([...errors].sort((a, b) => b - a)).toEqual(errors);
    expect(errors[4]).toBeGreaterThan(0.19);
    expect(errors[4]).toBeLessThan(0.22);
    expect(errors[0]).toBeGreaterThan(0.42);
    expect(errors[0]).toBeLessThan(0.46);
    // Gaps that a bandit can see.
    for (let k = 1; k < 5; k++) expect(errors[k - 1] - errors[k]).toBeGreaterThan(0.03);
  });

  it('are the same every time', () => {
    const again = degradedModels(split);
    models.forEach((model, k) => {
      expect(predictions(again[k], heldOut), model.name).toEqual(predictions(model, heldOut));
    });
  });
});

describe('training', () => {
  const plan = {
    seed: 7,
    hidden: 8,
    epochs: 2,
    batchSize: 16,
    rate: 0.05,
    momentum: 0.9,
    weightDecay: 1e-4,
    shiftPixels: 1,
  };
  // Every tenth digit: a run of a moment.
  const few: DigitSet = {
    count: 800,
    pixels: Float32Array.from({ length: 800 * PIXELS }, (_, k) => {
      return training.pixels[Math.floor(k / PIXELS) * 9 * PIXELS + (k % PIXELS)];
    }),
    labels: Uint8Array.from({ length: 800 }, (_, k) => training.labels[k * 9]),
  };

  it('gives the same weights for the same seed, and others for another', () => {
    const [first] = trainNetwork(few, plan);
    const [second] = trainNetwork(few, plan);
    const [other] = trainNetwork(few, { ...plan, seed: 8 });
    expect(second.weights).toEqual(first.weights);
    expect(other.weights).not.toEqual(first.weights);
  });

  it('learns', () => {
    const [layer] = trainNetwork(few, { ...plan, hidden: 0, epochs: 5 });
    const scores = new Float32Array(CLASSES);
    let right = 0;
    for (let k = 0; k < heldOut.count; k++) {
      layer.forward(digitAt(heldOut, k), scores);
      if (scores.indexOf(Math.max(...scores)) === heldOut.labels[k]) right += 1;
    }
    expect(right / heldOut.count).toBeGreaterThan(0.7);
  });

  it('of SVMs and a forest learns, and the seed decides', () => {
    const digits = drawnSubset(training, 20, new Draws(5));
    const strokes = strokeExamples(digits, 4);
    const forestPlan = { trees: 8, treeNodes: 63, depth: 6, pixelsPerSplit: 20, shiftPixels: 0 };
    const runs = (seed: number): readonly ArrayLike<number>[] => [
      trainLinearSvm(strokes, { ...LINEAR_SVM_PLAN, seed }).weights,
      trainRadialMachine(strokes, { ...RADIAL_PLAN, centresPerClass: 5, seed }).coefficients,
      trainForest(digits, { ...forestPlan, seed }).nodes,
    ];
    const first = runs(3);
    expect(runs(3)).toEqual(first);
    runs(4).forEach((other, k) => expect(other).not.toEqual(first[k]));
  });
});
