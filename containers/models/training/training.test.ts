import { describe, expect, it } from 'vitest';
import { plainEvaluation } from '../evaluation/plainEvaluation.js';
import { builtInModelPath, loadKernelModel } from '../kernelModel.js';
import { CLASSES, PIXELS, digitAt, loadDigits, type DigitSet } from './digits.js';
import { trainNetwork } from './network.js';

const { training, heldOut } = loadDigits();

function accuracy(name: 'digits-logistic' | 'digits-mlp', set: DigitSet): number {
  const evaluate = plainEvaluation(loadKernelModel(builtInModelPath(name)));
  let right = 0;
  for (let k = 0; k < set.count; k++)
    if (evaluate(digitAt(set, k)).label === String(set.labels[k])) right += 1;
  return right / set.count;
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
  it('of the logistic regression reach 0.89 on held-out digits', () => {
    expect(accuracy('digits-logistic', heldOut)).toBeGreaterThanOrEqual(0.89);
  });

  it('of the perceptron reach 0.935 on held-out digits', () => {
    expect(accuracy('digits-mlp', heldOut)).toBeGreaterThanOrEqual(0.935);
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
});
