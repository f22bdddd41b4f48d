import {
  sameOutput,
  type ArmPrediction,
  type Feedback,
  type Loss,
  type Selection,
} from '../../selection/index.js';
import type { FeedbackRequest } from './types.js';

/** What a policy is told of a query that somebody has judged. */
export interface PolicyFeedback {
  readonly feedback: Feedback;
  /** Those that are judged. */
  readonly predictions: readonly ArmPrediction[];
}

/** What an application says of arms that were late. */
export interface Lateness {
  readonly arms: readonly string[];
  /** From 0 to 1. */
  readonly loss: number;
}

/**
 * Feedback as policies take it: with the application's loss in place of right and wrong, and where only some models are judged
 * with their predictions alone, so that the others count as if they had not answered in time.
 * @param measure undefined: right or wrong
 * @param lateness arms that were late, and what that costs; undefined: nothing
 * @returns undefined: none of the models that the query asked is judged
 */
export function policyFeedback(
  selection: Selection,
  predictions: readonly ArmPrediction[],
  { label, loss, losses }: Pick<FeedbackRequest, 'label' | 'loss' | 'losses'>,
  measure: Loss | undefined,
  lateness?: Lateness,
): PolicyFeedback | undefined {
  const judged = withoutLateness(selection, predictions, { label, loss, losses }, measure);
  if (lateness === undefined || lateness.arms.length === 0) return judged;
  const late = lateness.arms.filter((arm) => selection.arms.includes(arm));
  if (late.length === 0) return judged;
  const prices = Object.fromEntries(late.map((arm) => [arm, lateness.loss]));
  const { label: known, losses: measured }: Feedback = judged?.feedback ?? { label: '' };
  // Without the loss of the answer, which was measured of a default.
  const feedback = { label: known, losses: { ...measured, ...prices }, late };
  return { feedback, predictions: judged?.predictions ?? [] };
}

function withoutLateness(
  selection: Selection,
  predictions: readonly ArmPrediction[],
  { label, loss, losses }: Pick<FeedbackRequest, 'label' | 'loss' | 'losses'>,
  measure: Loss | undefined,
): PolicyFeedback | undefined {
  const own = loss === undefined ? {} : { loss };
  if (losses === undefined && label !== undefined) {
    if (measure === undefined) return { feedback: { label, ...own }, predictions };
    const measured = Object.fromEntries(predictions.map(({ arm, output }) => [arm, measure(output, label)]));
    return { feedback: { label, ...own, losses: measured }, predictions };
  }
  const judged: Record<string, number> = {};
  for (const arm of [...selection.arms, ...(selection.shadows ?? [])]) {
    if (losses !== undefined && Object.hasOwn(losses, arm)) judged[arm] = losses[arm];
    else if (label !== undefined) {
      const prediction = predictions.find((one) => one.arm === arm);
      if (prediction === undefined) continue;
      const { output } = prediction;
      judged[arm] = measure?.(output, label) ?? (sameOutput(output, label) ? 0 : 1);
    }
  }
  const arms = Object.keys(judged);
  // A loss alone is that of the answer: of one model that is the model's, of several nobody's.
  if (arms.length === 0 && (loss === undefined || selection.arms.length !== 1)) return undefined;
  const kept = loss === undefined ? predictions.filter(({ arm }) => arms.includes(arm)) : predictions;
  return { feedback: { label: label ?? '', ...own, losses: judged }, predictions: kept };
}
