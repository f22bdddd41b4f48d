import { addActivation, addDense } from '../denseLayer.js';
import type { ModelDraft, Tensor } from '../modelDraft.js';
import { addNormalization, addSoftmax } from '../rowLayers.js';
import type { LinearExport, PerceptronExport } from './exportSchema.js';
import type { ExportCheck } from './readExport.js';

/** What a classifier's label and scores are read from: one value a class each. */
export interface ClassTensors {
  readonly decisions: Tensor;
  readonly scores: Tensor;
}

/** LinearSVC, LogisticRegression, SGDClassifier, RidgeClassifier and their like. */
export function addLinear(
  draft: ModelDraft,
  x: Tensor,
  model: LinearExport,
  classes: number,
  check: ExportCheck,
): ClassTensors {
  const outputs = classes === 2 ? 1 : classes;
  check.length(model.coefficients, outputs, 'model.coefficients');
  check.length(model.intercepts, outputs, 'model.intercepts');
  const rows = check.matrix(model.coefficients, x.width, 'model.coefficients');
  const weights = transposed(rows, outputs, x.width);
  const decisions = addDense(draft, x, bothSides(weights, model.intercepts));
  return { decisions, scores: addProbabilities(draft, decisions, model.probabilities) };
}

/** MLPClassifier. */
export function addPerceptron(
  draft: ModelDraft,
  x: Tensor,
  model: PerceptronExport,
  classes: number,
  check: ExportCheck,
): ClassTensors {
  let values = x;
  model.layers.forEach(({ weights, biases }, index) => {
    const field = `model.layers[${index}]`;
    const isLast = index === model.layers.length - 1;
    check.length(weights, values.width, `${field}.weights`);
    if (isLast) check.length(biases, classes === 2 ? 1 : classes, `${field}.biases`);
    const matrix = check.matrix(weights, biases.length, `${field}.weights`);
    values = isLast
      ? addDense(draft, values, bothSides(matrix, biases))
      : addDense(draft, values, { weights: matrix, biases, activation: model.activation });
  });
  // Labels come from the probabilities here, not from what they are made of: decisions that differ may round to the same.
  const scores =
    classes === 2 ? addActivation(draft, values, 'logistic') : addSoftmax(draft, values, classes);
  return { decisions: scores, scores };
}

function addProbabilities(
  draft: ModelDraft,
  decisions: Tensor,
  probabilities: LinearExport['probabilities'],
): Tensor {
  switch (probabilities) {
    case 'none':
      return decisions;
    case 'softmax':
      return addSoftmax(draft, decisions, decisions.width);
    case 'logistic': {
      const shares = addActivation(draft, decisions, 'logistic');
      return decisions.width === 2 ? shares : addNormalization(draft, shares, decisions.width);
    }
  }
}

/** A single decision d, for the second of two classes, becomes -d and d: the larger is then the label, the first on a tie. */
function bothSides(
  weights: Float64Array,
  biases: readonly number[],
): { weights: Float64Array; biases: readonly number[] } {
  if (biases.length > 1) return { weights, biases };
  const both = new Float64Array(2 * weights.length);
  weights.forEach((value, k) => {
    both[2 * k] = -value;
    both[2 * k + 1] = value;
  });
  return { weights: both, biases: [-biases[0], biases[0]] };
}

export function transposed(matrix: Float64Array, rows: number, columns: number): Float64Array {
  const result = new Float64Array(matrix.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      result[column * rows + row] = matrix[row * columns + column];
    }
  }
  return result;
}
