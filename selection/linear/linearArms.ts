import { featureNames } from '../features.js';
import { lossOf } from '../loss.js';
import { distinctArms, numberIn, type JsonObject } from '../parameters.js';
import { priorFrom } from '../prior.js';
import type { Arm, ArmPrediction, Feedback, FeatureFault, Features, Json, Selection } from '../policy.js';
import { finite, isRecord, numberList, stringList } from '../stateShape.js';
import { addIdentity, addOuter, packedLength, rearranged, scaledIdentity, solveLower } from './cholesky.js';

/**
 * Ridge regression of each arm's reward on the features of queries: the columns of a linear policy's state. Arms know nothing
 * of each other.
 *
 * Of an arm with the feedbacks (x, r), x = (1, features), the n-th the latest: A = ridge I + sum of forgetting^age x x', kept as
 * its Cholesky factor, and b = sum of forgetting^age r x; the estimate is A^-1 b. What is forgotten makes room for the ridge
 * again, so that A never falls below ridge I (Russac, Vernade and Cappé 2019). Age counts the application's feedbacks and not
 * the arm's own: an arm that is not asked for long becomes unknown again.
 */
export type LinearArms = {
  /** Names, in the order of the regression's columns behind the constant. */
  readonly features: readonly string[];
  readonly ridge: number;
  /** What is left of a feedback when the next one comes; 1: all. */
  readonly forgetting: number;
  /** Feedbacks that the application's state counts for in a new context. */
  readonly prior: number;
  /** Feedbacks of all arms. */
  readonly seen: number;
  readonly arms: readonly Arm[];
  /** Of each arm: `seen` when it was judged last. */
  readonly judgedAt: readonly number[];
  /** How often, discounted up to then. */
  readonly judged: readonly number[];
  /** The Cholesky factor of A, packed. */
  readonly factors: readonly (readonly number[])[];
  /** b. */
  readonly targets: readonly (readonly number[])[];
};

export const LINEAR_PARAMETERS = ['features', 'ridge', 'forgetting', 'prior'] as const;

/** As long as `memory` of the policies without features. */
const DEFAULT_FORGETTING = 0.9998;
/** An arm that was asked a few times is known as little as one that was not: rewards are at most 1. */
const DEFAULT_RIDGE = 1;
/** As of policies without features, of each arm. */
const DEFAULT_PRIOR = 20;
/** Squares of larger ones leave nothing of the others. */
const LARGEST_FEATURE = 1e6;

/** Grown to the most rows so far. What is in it lives for one call. */
let scratch = new Float64Array(0);
let solution = new Float64Array(0);
let regressed = new Float64Array(0);

function makeRoom(rows: number): void {
  if (scratch.length >= rows) return;
  scratch = new Float64Array(rows);
  solution = new Float64Array(rows);
  regressed = new Float64Array(rows);
}

/** @throws PolicyError naming the parameter and the fix */
export function newArms(arms: readonly Arm[], parameters: JsonObject): LinearArms {
  const features = featureNames(parameters);
  const ridge = numberIn(parameters, 'ridge', 0, 1e6, DEFAULT_RIDGE);
  const forgetting = numberIn(parameters, 'forgetting', 0.9, 1, DEFAULT_FORGETTING);
  const empty: LinearArms = {
    features,
    ridge,
    forgetting,
    prior: priorFrom(parameters, DEFAULT_PRIOR),
    seen: 0,
    arms: [],
    judgedAt: [],
    judged: [],
    factors: [],
    targets: [],
  };
  return carriedArms(empty, distinctArms(arms));
}

/** The columns of a stored state; undefined when they are none. */
export function armsFrom(value: Json): LinearArms | undefined {
  if (!isRecord(value)) return undefined;
  const { features, ridge, forgetting, seen, arms, judgedAt, judged, factors, targets } = value;
  if (!stringList(features) || !finite(ridge) || !finite(forgetting) || !finite(seen)) return undefined;
  if (!stringList(arms) || !numberList(judgedAt) || !numberList(judged)) return undefined;
  if (!lists(factors) || !lists(targets)) return undefined;
  const columns = [judgedAt, judged, factors, targets];
  if (columns.some((column) => column.length !== arms.length)) return undefined;
  const rows = features.length + 1;
  const areWhole =
    factors.every((factor) => isFactor(factor, rows)) &&
    targets.every((target) => target.length === rows) &&
    judged.every((count) => count >= 0) &&
    judgedAt.every((at) => at >= 0 && at <= seen);
  if (!areWhole) return undefined;
  // States of older programs have none.
  const prior = priorFrom(value, DEFAULT_PRIOR);
  return { features, ridge, forgetting, prior, seen, arms, judgedAt, judged, factors, targets };
}

/** After arms came and went; a newcomer has not been judged. */
export function carriedArms(before: LinearArms, arms: readonly Arm[]): LinearArms {
  const rows = before.features.length + 1;
  const places = arms.map((arm) => before.arms.indexOf(arm));
  const carry = <T>(column: readonly T[], fresh: () => T): T[] =>
    places.map((at) => (at < 0 ? fresh() : column[at]));
  return {
    ...before,
    arms: [...arms],
    judgedAt: carry(before.judgedAt, () => before.seen),
    judged: carry(before.judged, () => 0),
    factors: carry(before.factors, () => scaledIdentity(rows, Math.sqrt(before.ridge))),
    targets: carry(before.targets, () => new Array<number>(rows).fill(0)),
  };
}

/**
 * With other features, ridge and forgetting. A feature that goes leaves what would have been learned without it, one that comes
 * what would have been learned if it had been 0. The ridge holds for what is new or forgotten from now on.
 */
export function withOthers(
  before: LinearArms,
  { features, ridge, forgetting, prior }: LinearArms,
): LinearArms {
  const kept = [0, ...features.map((name) => before.features.indexOf(name) + 1 || -1)];
  return {
    ...before,
    features,
    ridge,
    forgetting,
    prior,
    factors: before.factors.map((factor) => rearranged(factor, kept, ridge)),
    targets: before.targets.map((target) => kept.map((at) => (at < 0 ? 0 : target[at]))),
  };
}

/** What a query's features are not for these arms, or undefined. */
export function faultOf(
  policy: string,
  { features: known }: LinearArms,
  features: Features,
): FeatureFault | undefined {
  for (const [name, value] of Object.entries(features)) {
    if (!known.includes(name)) {
      const takes = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`;
      const message = `policy '${policy}' of this application has no feature '${name}': ${takes}; its parameter features names them`;
      return { name, message };
    }
    if (Math.abs(value) > LARGEST_FEATURE) {
      const message = `${name} must be from -${LARGEST_FEATURE} to ${LARGEST_FEATURE}, not ${value}: scale it, best to about 1`;
      return { name, message };
    }
  }
  return undefined;
}

/** What the regressions say of a query, arm by arm: the reward to expect, and the standard deviation of that at unit noise. */
export function eachEstimate(
  arms: LinearArms,
  features: Features | undefined,
  each: (mean: number, width: number, at: number) => void,
): void {
  const rows = arms.features.length + 1;
  makeRoom(rows);
  regressorOf(arms, features, scratch);
  let square = 0;
  for (let row = 0; row < rows; row++) square += scratch[row] * scratch[row];
  const widest = square / arms.ridge;
  for (let at = 0; at < arms.arms.length; at++) {
    const factor = arms.factors[at];
    solveLower(factor, scratch, rows, solution);
    solveLower(factor, arms.targets[at], rows, regressed);
    let mean = 0;
    let spread = 0;
    for (let row = 0; row < rows; row++) {
      mean += solution[row] * regressed[row];
      spread += solution[row] * solution[row];
    }
    // Since then nothing was said of it, and others' feedback has made what is known older: never less certain than at first.
    const left = arms.forgetting ** (arms.seen - arms.judgedAt[at]);
    const aged = Math.min(spread / left, widest);
    each(mean, Math.sqrt(aged), at);
  }
}

/** After feedback on the one arm that served a query; undefined when that arm is no longer there. */
export function afterServing(
  arms: LinearArms,
  selection: Selection,
  predictions: readonly ArmPrediction[],
  feedback: Feedback,
  features: Features | undefined,
): LinearArms | undefined {
  const served = selection.arms[0];
  const at = served === undefined ? -1 : arms.arms.indexOf(served);
  if (at < 0) return undefined;
  const rows = arms.features.length + 1;
  makeRoom(rows);
  const reward = 1 - lossOf(served, predictions, feedback);
  const seen = arms.seen + 1;
  const left = arms.forgetting ** (seen - arms.judgedAt[at]);
  const factor = faded([...arms.factors[at]], left, arms.ridge, rows);
  regressorOf(arms, features, scratch);
  const target = arms.targets[at].map((sum, row) => sum * left + reward * scratch[row]);
  addOuter(factor, scratch, rows);
  return {
    ...arms,
    seen,
    judgedAt: arms.judgedAt.with(at, seen),
    judged: arms.judged.with(at, arms.judged[at] * left + 1),
    factors: arms.factors.with(at, factor),
    targets: arms.targets.with(at, target),
  };
}

/**
 * What a context begins with: of each arm as much evidence as there is, at most of `prior` feedbacks, and the ridge in place of the
 * rest, as if that had been forgotten.
 */
export function priorArms(own: LinearArms): LinearArms {
  const { prior, ridge, forgetting, seen } = own;
  const rows = own.features.length + 1;
  makeRoom(rows);
  const left = own.judged.map((count, at) =>
    Math.min(forgetting ** (seen - own.judgedAt[at]), count > prior ? prior / count : 1),
  );
  return {
    ...own,
    seen: 0,
    judgedAt: own.arms.map(() => 0),
    judged: own.judged.map((count, at) => count * left[at]),
    factors: own.factors.map((factor, at) => faded([...factor], left[at], ridge, rows)),
    targets: own.targets.map((target, at) => target.map((sum) => sum * left[at])),
  };
}

/** Of the feedback that is remembered, one more imagined for each arm. */
export function judgedShares({ arms, judged, judgedAt, seen, forgetting }: LinearArms): Map<Arm, number> {
  const counts = judged.map((count, at) => count * forgetting ** (seen - judgedAt[at]) + 1);
  const total = counts.reduce((sum, count) => sum + count, 0);
  return new Map(arms.map((arm, at) => [arm, counts[at] / total]));
}

/** Only this share of what it holds is left, and the ridge makes up for the rest. In place. */
function faded(factor: number[], left: number, ridge: number, rows: number): number[] {
  if (left >= 1) return factor;
  const root = Math.sqrt(left);
  for (let place = 0; place < factor.length; place++) factor[place] *= root;
  addIdentity(factor, (1 - left) * ridge, rows, scratch);
  return factor;
}

/** (1, features): one that is absent is 0. */
function regressorOf({ features }: LinearArms, values: Features | undefined, into: Float64Array): void {
  into[0] = 1;
  for (let at = 0; at < features.length; at++) {
    const name = features[at];
    into[at + 1] = values !== undefined && Object.hasOwn(values, name) ? values[name] : 0;
  }
}

function lists(value: Json | undefined): value is readonly (readonly number[])[] {
  return Array.isArray(value) && value.every((one) => numberList(one as Json));
}

function isFactor(factor: readonly number[], rows: number): boolean {
  if (factor.length !== packedLength(rows)) return false;
  for (let row = 1; row <= rows; row++) if (!(factor[packedLength(row) - 1] > 0)) return false;
  return true;
}
