import { shiftDigit } from './augmentation.js';
import { DenseLayer } from './denseLayer.js';
import { CLASSES, PIXELS, digitAt, type DigitSet } from './digits.js';
import { Draws } from './draws.js';

export interface TrainingPlan {
  readonly seed: number;
  /** Units of the one hidden layer (ReLU); 0 trains a multinomial logistic regression. */
  readonly hidden: number;
  readonly epochs: number;
  readonly batchSize: number;
  /** The first epoch's learning rate; it falls to zero along a half cosine. */
  readonly rate: number;
  readonly momentum: number;
  readonly weightDecay: number;
  /** Every digit is shifted anew each epoch, by up to so many pixels each way. */
  readonly shiftPixels: number;
}

/** Layers in order from the pixels to the class scores (before softmax). */
export function trainNetwork(set: DigitSet, plan: TrainingPlan): readonly DenseLayer[] {
  const draws = new Draws(plan.seed);
  const hiddenLayer = plan.hidden === 0 ? undefined : new DenseLayer(PIXELS, plan.hidden, draws);
  const outputLayer = new DenseLayer(hiddenLayer === undefined ? PIXELS : plan.hidden, CLASSES, draws);
  const pixels = new Float32Array(PIXELS);
  const hidden = new Float32Array(plan.hidden);
  const hiddenGradient = new Float32Array(plan.hidden);
  const scores = new Float32Array(CLASSES);
  const order = Int32Array.from({ length: set.count }, (_, index) => index);

  for (let epoch = 0; epoch < plan.epochs; epoch++) {
    draws.shuffle(order);
    for (let first = 0; first < set.count; first += plan.batchSize) {
      const last = Math.min(first + plan.batchSize, set.count);
      for (let k = first; k < last; k++) {
        shiftDigit(digitAt(set, order[k]), plan.shiftPixels, draws, pixels);
        if (hiddenLayer !== undefined) {
          hiddenLayer.forward(pixels, hidden);
          for (let h = 0; h < hidden.length; h++) if (hidden[h] < 0) hidden[h] = 0;
        }
        const features = hiddenLayer === undefined ? pixels : hidden;
        outputLayer.forward(features, scores);
        softmaxGradient(scores, set.labels[order[k]]);
        outputLayer.accumulate(features, scores);
        if (hiddenLayer !== undefined) {
          outputLayer.backward(scores, hiddenGradient);
          for (let h = 0; h < hidden.length; h++) if (hidden[h] === 0) hiddenGradient[h] = 0;
          hiddenLayer.accumulate(pixels, hiddenGradient);
        }
      }
      const progress = (epoch * set.count + first) / (plan.epochs * set.count);
      const rate = plan.rate * 0.5 * (1 + Math.cos(Math.PI * progress));
      hiddenLayer?.step(last - first, rate, plan.momentum, plan.weightDecay);
      outputLayer.step(last - first, rate, plan.momentum, plan.weightDecay);
    }
  }
  return hiddenLayer === undefined ? [outputLayer] : [hiddenLayer, outputLayer];
}

/** Turns scores into the gradient of the cross-entropy loss: softmax less the one-hot label. */
function softmaxGradient(scores: Float32Array, label: number): void {
  let largest = -Infinity;
  for (const score of scores) largest = Math.max(largest, score);
  let sum = 0;
  for (let c = 0; c < scores.length; c++) {
    scores[c] = Math.exp(scores[c] - largest);
    sum += scores[c];
  }
  for (let c = 0; c < scores.length; c++) scores[c] /= sum;
  scores[label] -= 1;
}
