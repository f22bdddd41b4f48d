import { lossOf } from '../loss.js';
import type { Arm, ArmPrediction, Feedback, Features, Selection } from '../policy.js';
import { EvaluationError } from './evaluationError.js';

/** Its inverse is a weight, of which squares are summed. No policy draws so seldom. */
const LEAST_PROPENSITY = 1e-12;

/** One judged query, as a server writes it down and `evaluatePolicy` reads it. */
export interface LoggedFeedback {
  readonly application: string;
  /** That has served; '' where the log does not say. */
  readonly policy: string;
  /** '' when the query named none. */
  readonly context: string;
  readonly features?: Features | undefined;
  /** The application's models then, in the order of their links; empty where the log does not say. */
  readonly linked: readonly Arm[];
  /** The probability, above 0, with which the judged models were asked; undefined: nobody knows. */
  readonly propensity?: number | undefined;
  /** Of each model that was judged, from 0 to 1. */
  readonly losses: Readonly<Record<Arm, number>>;
}

/**
 * The losses that feedback on a selection tells, by model. Of one model that was asked alone it is its loss, 1 where it did not
 * answer in time: the query was lost with it. Of several those that have answered or were judged by themselves.
 */
export function judgedLosses(
  { arms, shadows = [] }: Selection,
  predictions: readonly ArmPrediction[],
  feedback: Feedback,
): Readonly<Record<Arm, number>> {
  const { loss, ...ofModels } = feedback;
  const losses: Record<Arm, number> = {};
  const isMeasured = (arm: Arm): boolean =>
    feedback.losses !== undefined && Object.hasOwn(feedback.losses, arm);
  const hasLabel = feedback.label !== '' || feedback.losses === undefined;
  for (const arm of arms.length === 1 ? arms : []) {
    if (loss !== undefined || hasLabel || isMeasured(arm)) losses[arm] = lossOf(arm, predictions, feedback);
  }
  // A loss alone is that of the answer: of several models it is nobody's.
  const hasOwnLabel = hasLabel && !(loss !== undefined && feedback.label === '');
  for (const arm of arms.length === 1 ? shadows : [...arms, ...shadows]) {
    const hasAnswered = predictions.some((prediction) => prediction.arm === arm);
    if (isMeasured(arm) || (hasOwnLabel && hasAnswered)) losses[arm] = lossOf(arm, predictions, ofModels);
  }
  return losses;
}

/**
 * A line of a feedback log.
 * @param place for messages, such as `log.jsonl:7`
 * @throws EvaluationError naming the place, the field and what is taken
 */
export function parseLoggedFeedback(text: string, place: string): LoggedFeedback {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw bad(place, 'is no JSON');
  }
  if (!isObject(value)) throw bad(place, 'is no JSON object');
  const { application = '', policy = '', context = '', features, linked = [], propensity, losses } = value;
  if (typeof application !== 'string') throw bad(place, 'application must be a name');
  if (typeof policy !== 'string') throw bad(place, 'policy must be a name');
  if (typeof context !== 'string') throw bad(place, 'context must be text');
  if (!Array.isArray(linked) || !linked.every((arm): arm is string => typeof arm === 'string')) {
    throw bad(place, 'linked must be a list of names of models');
  }
  if (
    propensity !== undefined &&
    !(typeof propensity === 'number' && propensity >= LEAST_PROPENSITY && propensity <= 1)
  ) {
    throw bad(
      place,
      `propensity must be a number from ${LEAST_PROPENSITY} to 1, not ${JSON.stringify(propensity)}`,
    );
  }
  if (losses === undefined) {
    throw bad(
      place,
      "has no losses: it is no line of a feedback log, which 'windjammer record --feedback' writes",
    );
  }
  if (!isNumbers(losses) || Object.values(losses).some((loss) => !(loss >= 0 && loss <= 1))) {
    throw bad(place, 'losses must be numbers from 0 to 1 by the names of models');
  }
  if (Object.keys(losses).length === 0) throw bad(place, 'losses is empty: a line has at least one');
  if (features !== undefined && !isNumbers(features)) {
    throw bad(place, 'features must be an object of finite numbers');
  }
  return { application, policy, context, features, linked, propensity, losses };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNumbers(value: unknown): value is Readonly<Record<string, number>> {
  return isObject(value) && Object.values(value).every((one) => Number.isFinite(one));
}

function bad(place: string, what: string): EvaluationError {
  return new EvaluationError('bad_line', `${place} ${what}`);
}
