import { softmax, type ClassScores } from '../../evaluation/classScores.js';
import { shiftDigit } from '../augmentation.js';
import { digitAt, type DigitSet } from '../digits.js';
import { Draws } from '../draws.js';
import type { TrainingPlan } from '../network.js';
import type { ImageDesign } from './imageDesign.js';
import { imageSteps } from './imageSteps.js';

/** Weights `[inputs][outputs]` and biases of a layer; a convolution's inputs are `[rows][columns][channels]` of its kernel. */
export interface LayerWeights {
  readonly weights: Float32Array;
  readonly biases: Float32Array;
}

/** A design with weights: what can be written as ONNX, or evaluated by anybody. */
export interface ImageNetwork {
  readonly design: ImageDesign;
  /** Of each layer; null where it has none. */
  readonly weights: readonly (LayerWeights | null)[];
}

export type ImagePlan = Omit<TrainingPlan, 'hidden'>;

/** Stochastic gradient descent on the cross-entropy, as `trainNetwork`; the same weights every time on one version of Node. */
export function trainImageNetwork(set: DigitSet, design: ImageDesign, plan: ImagePlan): ImageNetwork {
  const draws = new Draws(plan.seed);
  const { planes, steps } = imageSteps(design, draws);
  const [image] = planes;
  const last = planes[planes.length - 1];
  const order = Int32Array.from({ length: set.count }, (_, index) => index);
  for (let epoch = 0; epoch < plan.epochs; epoch++) {
    draws.shuffle(order);
    for (let first = 0; first < set.count; first += plan.batchSize) {
      const end = Math.min(first + plan.batchSize, set.count);
      for (let k = first; k < end; k++) {
        shiftDigit(digitAt(set, order[k]), plan.shiftPixels, draws, image.values);
        for (const step of steps) step.forward();
        for (const { gradients } of planes) gradients.fill(0);
        last.gradients.set(softmax(Float64Array.from(last.values)));
        last.gradients[set.labels[order[k]]] -= 1;
        for (let at = steps.length - 1; at >= 0; at--) steps[at].backward();
      }
      const progress = (epoch * set.count + first) / (plan.epochs * set.count);
      const rate = plan.rate * 0.5 * (1 + Math.cos(Math.PI * progress));
      for (const { weights } of steps) weights?.step(end - first, rate, plan.momentum, plan.weightDecay);
    }
  }
  return { design, weights: steps.map(({ weights }) => weights ?? null) };
}

/** Probabilities of the classes, by plain code. */
export function imageProbabilities({ design, weights }: ImageNetwork): ClassScores {
  const { planes, steps } = imageSteps(design, new Draws(0));
  steps.forEach(({ weights: layer }, at) => {
    const own = weights[at];
    if (layer === undefined || own === null) return;
    layer.weights.set(own.weights);
    layer.biases.set(own.biases);
  });
  const [image] = planes;
  const last = planes[planes.length - 1];
  return (pixels) => {
    image.values.set(pixels);
    for (const step of steps) step.forward();
    return softmax(Float64Array.from(last.values));
  };
}
