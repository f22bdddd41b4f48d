import type { KernelModel } from '../kernelModel.js';

export interface Evaluation {
  readonly label: string;
  /** Probabilities by class. */
  readonly scores: Float64Array;
}

export type PlainEvaluator = (pixels: Float32Array) => Evaluation;

/**
 * The digit models once more, in double precision and with nothing of the GPU: what their kernels are held against.
 * @throws Error for a model that is neither of the two.
 */
export function plainEvaluation(model: KernelModel): PlainEvaluator {
  const { answer } = model.manifest;
  if (answer.kind !== 'argmax') throw new Error(`no plain evaluation of ${model.manifest.name}`);
  const { labels } = answer;
  const scoresOf = model.weights.has('hiddenWeights') ? perceptron(model) : logistic(model, labels.length);
  return (pixels) => {
    const scores = softmax(scoresOf(pixels));
    return { label: labels[argmax(scores)], scores };
  };
}

type ClassScores = (pixels: Float32Array) => Float64Array;

function logistic(model: KernelModel, classes: number): ClassScores {
  const weights = floatsOf(model, 'weights');
  const biases = floatsOf(model, 'biases');
  return (pixels) => {
    // Each pixel's weights are padded to a row that the kernel loads four at a time.
    const stride = weights.length / pixels.length;
    return Float64Array.from({ length: classes }, (_, c) =>
      pixels.reduce((sum, value, k) => sum + value * weights[k * stride + c], biases[c]),
    );
  };
}

function perceptron(model: KernelModel): ClassScores {
  const hiddenWeights = floatsOf(model, 'hiddenWeights');
  const hiddenBiases = floatsOf(model, 'hiddenBiases');
  const outputWeights = floatsOf(model, 'outputWeights');
  const outputBiases = floatsOf(model, 'outputBiases');
  const units = hiddenBiases.length;
  return (pixels) => {
    const hidden = Float64Array.from(hiddenBiases);
    pixels.forEach((value, k) => {
      if (value !== 0) for (let h = 0; h < units; h++) hidden[h] += value * hiddenWeights[k * units + h];
    });
    return Float64Array.from(outputBiases, (bias, c) =>
      hidden.reduce((sum, value, h) => sum + Math.max(value, 0) * outputWeights[c * units + h], bias),
    );
  };
}

function floatsOf(model: KernelModel, name: string): Float32Array {
  const bytes = model.weights.get(name);
  if (bytes === undefined) throw new Error(`${model.manifest.name} has no weights '${name}'`);
  return new Float32Array(bytes.slice().buffer);
}

function softmax(scores: Float64Array): Float64Array {
  const largest = Math.max(...scores);
  const exponentials = scores.map((score) => Math.exp(score - largest));
  const sum = exponentials.reduce((total, value) => total + value, 0);
  return exponentials.map((value) => value / sum);
}

function argmax(values: Float64Array): number {
  return values.reduce((best, value, index) => (value > values[best] ? index : best), 0);
}
