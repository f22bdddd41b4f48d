import { softmax, type ClassScores } from '../evaluation/classScores.js';
import { CLASSES, digitAt, type DigitSet } from './digits.js';

/**
 * The factor by which margins must be scaled so that their softmax fits the digits best (most likely labels): an SVM's margins
 * say nothing of probability by themselves. Found by golden-section search; `set` must not be what the machine was trained on.
 */
export function fitScale(scores: ClassScores, set: DigitSet): number {
  const margins = new Float64Array(set.count * CLASSES);
  for (let k = 0; k < set.count; k++) margins.set(scores(digitAt(set, k)), k * CLASSES);
  const loss = (scale: number): number => {
    let sum = 0;
    for (let k = 0; k < set.count; k++) {
      const probabilities = softmax(margins.subarray(k * CLASSES, (k + 1) * CLASSES), scale);
      sum -= Math.log(Math.max(probabilities[set.labels[k]], Number.MIN_VALUE));
    }
    return sum;
  };
  const golden = (Math.sqrt(5) - 1) / 2;
  let [low, high] = [0.1, 20];
  while (high - low > 1e-3) {
    const [left, right] = [high - golden * (high - low), low + golden * (high - low)];
    if (loss(left) < loss(right)) high = right;
    else low = left;
  }
  return (low + high) / 2;
}
