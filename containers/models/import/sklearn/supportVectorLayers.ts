import { addDense, addRadialKernel } from '../denseLayer.js';
import { countOf, pointerTo, type ModelDraft, type Tensor } from '../modelDraft.js';
import type { SupportVectorExport } from './exportSchema.js';
import { transposed, type ClassTensors } from './linearLayers.js';
import type { ExportCheck } from './readExport.js';

/** SVC and NuSVC: one decision a pair of classes, and the votes of the pairs. */
export function addSupportVectors(
  draft: ModelDraft,
  x: Tensor,
  model: SupportVectorExport,
  classes: number,
  check: ExportCheck,
): ClassTensors {
  const pairs = (classes * (classes - 1)) / 2;
  const count = model.vectors.length;
  check.length(model.vectorsOfClass, classes, 'model.vectorsOfClass');
  check.length(model.intercepts, pairs, 'model.intercepts');
  check.length(model.dualCoefficients, classes - 1, 'model.dualCoefficients');
  const starts = new Int32Array(classes + 1);
  model.vectorsOfClass.forEach((size, index) => {
    if (size < 0) check.fail(`model.vectorsOfClass[${index}]`, `${size} is below 0`);
    starts[index + 1] = starts[index] + size;
  });
  if (starts[classes] !== count) {
    check.fail('model.vectorsOfClass', `they add up to ${starts[classes]}, there are ${count} vectors`);
  }
  const vectors = check.matrix(model.vectors, x.width, 'model.vectors');
  const dual = check.matrix(model.dualCoefficients, count, 'model.dualCoefficients');
  const decisions =
    model.kernel === 'linear'
      ? addDense(draft, x, {
          weights: pairWeights({ vectors, dual, starts, features: x.width }),
          biases: model.intercepts,
        })
      : addPairDecisions(draft, {
          values: addRadialKernel(draft, x, transposed(vectors, count, x.width), count, model.gamma),
          dual,
          intercepts: model.intercepts,
          starts,
        });
  return addVotes(draft, decisions, classes, model.breakTies);
}

/** A linear kernel needs no vectors at run time: each pair's sum over them is one row of weights. */
function pairWeights(machine: {
  readonly vectors: Float64Array;
  readonly dual: Float64Array;
  readonly starts: Int32Array;
  readonly features: number;
}): Float64Array {
  const { vectors, dual, starts, features } = machine;
  const classes = starts.length - 1;
  const count = starts[classes];
  const pairs = (classes * (classes - 1)) / 2;
  const weights = new Float64Array(features * pairs);
  let pair = 0;
  for (let i = 0; i < classes; i++) {
    for (let j = i + 1; j < classes; j++, pair++) {
      for (const [own, row] of [
        [i, j - 1],
        [j, i],
      ]) {
        for (let v = starts[own]; v < starts[own + 1]; v++) {
          const coefficient = dual[row * count + v];
          if (coefficient === 0) continue;
          for (let k = 0; k < features; k++) {
            weights[k * pairs + pair] += coefficient * vectors[v * features + k];
          }
        }
      }
    }
  }
  return weights;
}

function addPairDecisions(
  draft: ModelDraft,
  machine: {
    readonly values: Tensor;
    readonly dual: Float64Array;
    readonly intercepts: readonly number[];
    readonly starts: Int32Array;
  },
): Tensor {
  const { values, dual, intercepts, starts } = machine;
  const classes = starts.length - 1;
  const name = draft.layerName('pairs');
  const decisions = draft.tensor(name, 'f64', intercepts.length);
  draft.launchElements({
    module: 'pairs',
    kernel: 'pair_decisions_f64',
    width: intercepts.length,
    instructionsEach: 90 + 8 * classes + Math.ceil((2 * 8 * values.width) / classes),
    arguments: [
      pointerTo(values),
      draft.weight(`${name}Coefficients`, dual),
      draft.weight(`${name}Intercepts`, Float64Array.from(intercepts)),
      draft.weight(`${name}Starts`, starts),
      pointerTo(decisions),
      countOf(intercepts.length),
      { i32: classes },
      { i32: values.width },
    ],
  });
  return decisions;
}

function addVotes(draft: ModelDraft, decisions: Tensor, classes: number, breakTies: boolean): ClassTensors {
  const votes = draft.tensor('votes', 'f64', classes);
  const scores = draft.tensor('scores', 'f64', classes);
  draft.launchElements({
    module: 'pairs',
    kernel: 'pair_votes_f64',
    width: classes,
    instructionsEach: 60 + 30 * classes,
    arguments: [
      pointerTo(decisions),
      pointerTo(votes),
      pointerTo(scores),
      countOf(classes),
      { i32: classes },
    ],
  });
  // scikit-learn breaks ties of more than two classes only.
  return { decisions: breakTies && classes > 2 ? scores : votes, scores };
}
