import type { ClassScores } from '../evaluation/classScores.js';
import { digitModel, type DigitModel } from '../evaluation/digitModel.js';
import { forestShares } from '../evaluation/forestShares.js';
import { hyperplaneScores, linearScores } from '../evaluation/linearScores.js';
import { perceptronScores } from '../evaluation/perceptronScores.js';
import { radialScores } from '../evaluation/radialScores.js';
import { LINEAR_SVM_CELLS, RADIAL_CELLS, overStrokes } from '../evaluation/strokeFeatures.js';
import { loadDigits, type DigitSet, type DigitSplit } from './digits.js';
import { Draws } from './draws.js';
import { drawnSubset, strokeExamples } from './examples.js';
import { trainForest } from './forest.js';
import { trainLinearSvm } from './linearSvm.js';
import { trainNetwork } from './network.js';
import { trainRadialMachine } from './radialMachine.js';
import { FOREST_PLAN, LINEAR_SVM_PLAN, LOGISTIC_PLAN, PERCEPTRON_PLAN, RADIAL_PLAN } from './plans.js';
import { hyperplaneParameters, logisticParameters, perceptronParameters } from './weightLayouts.js';

interface Degradation {
  readonly name: string;
  /** Digits of each class that it has seen. */
  readonly digitsPerClass: number;
  readonly seed: number;
  readonly train: (few: DigitSet) => ClassScores;
}

/** So few digits make small batches. */
const FEW = { batchSize: 8, shiftPixels: 0 };

const DEGRADATIONS: readonly Degradation[] = [
  {
    name: 'digits-random-forest',
    digitsPerClass: 3,
    seed: 13,
    train: (few) => forestShares(trainForest(few, FOREST_PLAN)),
  },
  {
    name: 'digits-logistic',
    digitsPerClass: 4,
    seed: 14,
    train: (few) => linearScores(logisticParameters(trainNetwork(few, { ...LOGISTIC_PLAN, ...FEW }))),
  },
  {
    name: 'digits-mlp',
    digitsPerClass: 4,
    seed: 15,
    train: (few) => perceptronScores(perceptronParameters(trainNetwork(few, { ...PERCEPTRON_PLAN, ...FEW }))),
  },
  {
    name: 'digits-linear-svm',
    digitsPerClass: 4,
    seed: 11,
    train: (few) =>
      overStrokes(
        LINEAR_SVM_CELLS,
        hyperplaneScores(
          hyperplaneParameters(trainLinearSvm(strokeExamples(few, LINEAR_SVM_CELLS), LINEAR_SVM_PLAN)),
        ),
      ),
  },
  {
    name: 'digits-rbf-svm',
    digitsPerClass: 8,
    seed: 12,
    train: (few) =>
      overStrokes(
        RADIAL_CELLS,
        radialScores(trainRadialMachine(strokeExamples(few, RADIAL_CELLS), RADIAL_PLAN)),
      ),
  },
];

/**
 * The five models made worse, worst first, so that a choice among them matters as in Clipper's section 5 (figure 8: errors from
 * 0.20 to 0.45): the same kinds, each trained on a few digits a class of its own draw. Trains in about a second, and gives
 * the same models every time.
 */
export function degradedModels({ training, heldOut }: DigitSplit = loadDigits()): readonly DigitModel[] {
  return DEGRADATIONS.map(({ name, digitsPerClass, seed, train }) =>
    digitModel(name, train(drawnSubset(training, digitsPerClass, new Draws(seed))), heldOut),
  );
}
