import type { Arm, ArmPrediction, Feedback } from './policy.js';
import { sameOutput } from './sameOutput.js';

/**
 * The loss of one arm in [0, 1] (Clipper 5.1). An arm that was asked and gave no answer made the worst prediction
 * there is: otherwise a model that always fails would keep the weight with which it failed.
 */
export function lossOf(arm: Arm, predictions: readonly ArmPrediction[], feedback: Feedback): number {
  const loss = feedback.loss ?? measuredLoss(arm, feedback);
  if (loss !== undefined) return clamp(loss);
  for (const prediction of predictions) {
    if (prediction.arm === arm) return sameOutput(prediction.output, feedback.label) ? 0 : 1;
  }
  return 1;
}

/** What was measured of this arm itself. */
export function measuredLoss(arm: Arm, { losses }: Feedback): number | undefined {
  return losses !== undefined && Object.hasOwn(losses, arm) ? clamp(losses[arm]) : undefined;
}

/** Bad numbers count as the worst loss: a NaN would otherwise poison a weight for good. */
function clamp(loss: number): number {
  if (!(loss >= 0)) return loss < 0 ? 0 : 1;
  return loss > 1 ? 1 : loss;
}
