import { CLASSES } from './digits.js';
import { Draws } from './draws.js';
import type { Examples } from './examples.js';

export interface SvmPlan {
  /** What an example's squared violation of its margin costs, against half the squared length of the weights. */
  readonly cost: number;
  /** Passes over the examples. */
  readonly epochs: number;
  readonly seed: number;
}

/** One hyperplane a class. */
export interface Hyperplanes {
  /** [classes][width]. */
  readonly weights: Float64Array;
  readonly biases: Float64Array;
}

/**
 * Linear SVM, one class against the rest, with squared hinge loss: dual coordinate descent (Hsieh et al., ICML 2008,
 * algorithm 1). The bias is the weight of a feature that is always 1.
 */
export function trainLinearSvm(examples: Examples, plan: SvmPlan): Hyperplanes {
  const draws = new Draws(plan.seed);
  const { count, width, features, labels } = examples;
  const weights = new Float64Array(CLASSES * width);
  const biases = new Float64Array(CLASSES);
  const diagonal = 1 / (2 * plan.cost);
  const curvatures = Float64Array.from({ length: count }, (_, k) => {
    let squares = 1;
    for (let i = k * width; i < (k + 1) * width; i++) squares += features[i] * features[i];
    return squares + diagonal;
  });
  const order = Int32Array.from({ length: count }, (_, index) => index);
  for (let c = 0; c < CLASSES; c++) {
    const plane = weights.subarray(c * width, (c + 1) * width);
    const multipliers = new Float64Array(count);
    for (let epoch = 0; epoch < plan.epochs; epoch++) {
      draws.shuffle(order);
      for (const k of order) {
        const side = labels[k] === c ? 1 : -1;
        const row = k * width;
        let margin = biases[c];
        for (let i = 0; i < width; i++) margin += plane[i] * features[row + i];
        const gradient = side * margin - 1 + diagonal * multipliers[k];
        const moved = Math.max(multipliers[k] - gradient / curvatures[k], 0);
        const step = (moved - multipliers[k]) * side;
        if (step === 0) continue;
        multipliers[k] = moved;
        for (let i = 0; i < width; i++) plane[i] += step * features[row + i];
        biases[c] += step;
      }
    }
  }
  return { weights, biases };
}
