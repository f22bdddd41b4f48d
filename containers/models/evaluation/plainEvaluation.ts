import type { KernelModel } from '../kernelModel.js';
import { argmax, softmax, type ClassScores } from './classScores.js';
import { forestShares } from './forestShares.js';
import { hyperplaneScores, linearScores } from './linearScores.js';
import { perceptronScores } from './perceptronScores.js';
import { radialScores } from './radialScores.js';
import { LINEAR_SVM_CELLS, RADIAL_CELLS, overStrokes } from './strokeFeatures.js';

export interface Evaluation {
  readonly label: string;
  /** Probabilities by class, or shares of votes. */
  readonly scores: Float64Array;
}

export type PlainEvaluator = (pixels: Float32Array) => Evaluation;

/**
 * The digit models once more, in double precision and with nothing of the GPU: what their kernels are held against.
 * @throws Error for a model that does not come with the product.
 */
export function plainEvaluation(model: KernelModel): PlainEvaluator {
  const { answer, name } = model.manifest;
  const family = FAMILIES.get(name);
  if (answer.kind !== 'argmax' || family === undefined) throw new Error(`no plain evaluation of ${name}`);
  const { labels } = answer;
  const scoresOf = family(model, labels.length);
  return (pixels) => {
    const scores = scoresOf(pixels);
    return { label: labels[argmax(scores)], scores };
  };
}

type Family = (model: KernelModel, classes: number) => ClassScores;

const FAMILIES: ReadonlyMap<string, Family> = new Map<string, Family>([
  [
    'digits-logistic',
    (model) =>
      probabilities(
        linearScores({ weights: floatsOf(model, 'weights'), biases: floatsOf(model, 'biases') }),
        1,
      ),
  ],
  [
    'digits-mlp',
    (model) =>
      probabilities(
        perceptronScores({
          hiddenWeights: floatsOf(model, 'hiddenWeights'),
          hiddenBiases: floatsOf(model, 'hiddenBiases'),
          outputWeights: floatsOf(model, 'outputWeights'),
          outputBiases: floatsOf(model, 'outputBiases'),
        }),
        1,
      ),
  ],
  [
    'digits-linear-svm',
    (model) =>
      probabilities(
        overStrokes(
          LINEAR_SVM_CELLS,
          hyperplaneScores({ weights: floatsOf(model, 'hyperplanes'), biases: floatsOf(model, 'biases') }),
        ),
        floatsOf(model, 'scale')[0],
      ),
  ],
  [
    'digits-rbf-svm',
    (model) =>
      probabilities(
        overStrokes(
          RADIAL_CELLS,
          radialScores({
            centres: floatsOf(model, 'centres'),
            coefficients: floatsOf(model, 'coefficients'),
            biases: floatsOf(model, 'biases'),
            gamma: floatsOf(model, 'gamma')[0],
          }),
        ),
        floatsOf(model, 'scale')[0],
      ),
  ],
  [
    'digits-random-forest',
    (model, classes) =>
      forestShares({
        nodes: new Uint32Array(bytesOf(model, 'nodes').slice().buffer),
        trees: model.manifest.constants.trees,
        classes,
      }),
  ],
]);

function probabilities(scores: ClassScores, scale: number): ClassScores {
  return (pixels) => softmax(scores(pixels), scale);
}

function floatsOf(model: KernelModel, name: string): Float32Array {
  return new Float32Array(bytesOf(model, name).slice().buffer);
}

function bytesOf(model: KernelModel, name: string): Uint8Array {
  const bytes = model.weights.get(name);
  if (bytes === undefined) throw new Error(`${model.manifest.name} has no weights '${name}'`);
  return bytes;
}
