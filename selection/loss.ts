import type { Arm, ArmPrediction, Feedback } from './policy.js';
import { sameOutput } from './sameOutput.js';

/**
 * The loss of one arm in [0, 1] (Clipper 5.1). An arm that was asked and gave no answer made the worst prediction
 * there is: otherwise a model that always fails would keep the weight with which it failed.
 */
export function lossOf(arm: Arm, predictions: readonly ArmPrediction[], feedback: Feedback): number {
  if (feedback.loss !== undefined) return clamp(feedback.loss);
  for (const prediction of predictions) {
    if (prediction.arm === arm) return sameOutput(prediction.output, feedback.label) ? 0 : 1;
  }
  return 1;
}

/** Bad numbers count as the worst loss: a NaN would otherwise poison a weight for good. */
function clamp(loss: number): number {
  if (!(loss >= 0)) return loss < 0 ? 0 : 1;
  return loss > 1 ? 1 : loss;
}
