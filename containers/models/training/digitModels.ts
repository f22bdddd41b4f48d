import { digitModel, type DigitModel } from '../evaluation/digitModel.js';
import { hyperplaneScores } from '../evaluation/linearScores.js';
import { plainEvaluation } from '../evaluation/plainEvaluation.js';
import { radialScores } from '../evaluation/radialScores.js';
import { LINEAR_SVM_CELLS, RADIAL_CELLS, overStrokes } from '../evaluation/strokeFeatures.js';
import type { ClassScores } from '../evaluation/classScores.js';
import { BUILT_IN_MODELS, builtInModelPath, loadKernelModel, type BuiltInModel } from '../kernelModel.js';
import { loadDigits, type DigitSet, type DigitSplit } from './digits.js';
import { Draws } from './draws.js';
import { strokeExamples, splitFifth } from './examples.js';
import { trainForest } from './forest.js';
import { trainLinearSvm } from './linearSvm.js';
import { trainNetwork } from './network.js';
import { FOREST_PLAN, LINEAR_SVM_PLAN, LOGISTIC_PLAN, PERCEPTRON_PLAN, RADIAL_PLAN } from './plans.js';
import { fitScale } from './probabilityScale.js';
import { trainRadialMachine } from './radialMachine.js';
import {
  forestBytes,
  hyperplaneBytes,
  hyperplaneParameters,
  logisticBytes,
  logisticParameters,
  perceptronBytes,
  perceptronParameters,
  radialBytes,
} from './weightLayouts.js';

/** Trains a model on the digits and gives its `weights.bin`: the same bytes every time on one version of Node. */
export const DIGIT_TRAININGS: Readonly<Record<BuiltInModel, (digits: DigitSet) => Uint8Array>> = {
  'digits-logistic': (digits) => logisticBytes(logisticParameters(trainNetwork(digits, LOGISTIC_PLAN))),
  'digits-mlp': (digits) => perceptronBytes(perceptronParameters(trainNetwork(digits, PERCEPTRON_PLAN))),
  'digits-linear-svm': (digits) =>
    hyperplaneBytes(
      linearSvm(digits),
      scaleOf(digits, LINEAR_SVM_PLAN.seed, (part) =>
        overStrokes(LINEAR_SVM_CELLS, hyperplaneScores(linearSvm(part))),
      ),
    ),
  'digits-rbf-svm': (digits) =>
    radialBytes(
      trainRadialMachine(strokeExamples(digits, RADIAL_CELLS), RADIAL_PLAN),
      scaleOf(digits, RADIAL_PLAN.seed, (part) =>
        overStrokes(
          RADIAL_CELLS,
          radialScores(trainRadialMachine(strokeExamples(part, RADIAL_CELLS), RADIAL_PLAN)),
        ),
      ),
    ),
  'digits-random-forest': (digits) => forestBytes(trainForest(digits, FOREST_PLAN)),
};

const linearSvm = (digits: DigitSet): ReturnType<typeof hyperplaneParameters> =>
  hyperplaneParameters(trainLinearSvm(strokeExamples(digits, LINEAR_SVM_CELLS), LINEAR_SVM_PLAN));

/** Fitted on a fifth of the digits with a machine trained on the others. */
function scaleOf(digits: DigitSet, seed: number, train: (part: DigitSet) => ClassScores): number {
  const { rest, fifth } = splitFifth(digits, new Draws(seed));
  return fitScale(train(rest), fifth);
}

/** The five models that come with the product, evaluated plainly, with their errors on the held-out digits. */
export function digitModels({ heldOut }: DigitSplit = loadDigits()): readonly DigitModel[] {
  return BUILT_IN_MODELS.map((name) => {
    const evaluate = plainEvaluation(loadKernelModel(builtInModelPath(name)));
    return digitModel(name, (pixels) => evaluate(pixels).scores, heldOut);
  });
}
