import type { Arm, ArmOutcome, ArmPrediction, Feedback, Json, Selection } from '../policy.js';
import { lossOf, measuredLoss } from '../loss.js';
import { lossInVote } from '../exp4.js';
import { finite, isRecord } from '../stateShape.js';
import { answerOf } from '../votes.js';
import { afterOne, afterPair, atNextStep, isBroken, isProven, isRail, NEW_RAIL, type Rail } from './rail.js';

/** What a candidate is held to. */
export type TrialRules = {
  /** Shares of the queries, one after the other. */
  readonly steps: readonly number[];
  /** Of the candidate at each of them, before the next. */
  readonly queries: number;
  /** How much more it may lose on average, to be promoted; null: losses do not count. */
  readonly loss: number | null;
  /** How many times the incumbent's 95th percentile an answer may take; null: times do not count. */
  readonly latency: number | null;
  /** How much more often it may fail; null: errors do not count. */
  readonly errors: number | null;
  /** Of each verdict. */
  readonly confidence: number;
};

/** A candidate beside the one that serves. */
export type Trial = {
  readonly incumbent: Arm;
  readonly candidate: Arm;
  readonly phase: 'ramping' | 'promoted' | 'withdrawn';
  /** Why it was promoted or withdrawn; '' before. */
  readonly reason: string;
  /** Place of its share among the steps. */
  readonly step: number;
  /** Queries that the candidate was asked first at this step. */
  readonly asked: number;
  readonly rails: { readonly loss: Rail; readonly latency: Rail; readonly errors: Rail };
  /** The 95th percentile of the incumbent's computed answers, as far as it is known, and of how many. */
  readonly usualMs: number;
  readonly timed: number;
};

/** An answer may be slow in so many more of 100 queries. */
const SLOW_MARGIN = 0.05;
const USUAL_SHARE = 0.95;
/** So many times of the incumbent say what is usual. */
const LEAST_TIMED = 50;
/** How fast the percentile follows, as a share of itself. */
const FOLLOWS = 0.05;

export function newTrial(incumbent: Arm, candidate: Arm): Trial {
  return {
    incumbent,
    candidate,
    phase: 'ramping',
    reason: '',
    step: 0,
    asked: 0,
    rails: { loss: NEW_RAIL, latency: NEW_RAIL, errors: NEW_RAIL },
    usualMs: 0,
    timed: 0,
  };
}

/** The candidate's share of the queries. */
export function candidateShare(trial: Trial, { steps }: TrialRules): number {
  if (trial.phase !== 'ramping') return trial.phase === 'promoted' ? 1 : 0;
  return steps[Math.min(trial.step, steps.length - 1)];
}

/** After queries were answered. */
export function afterQueries(
  trial: Trial,
  rules: TrialRules,
  queries: readonly (readonly ArmOutcome[])[],
): Trial {
  let now = trial;
  for (const outcomes of queries) now = judged(afterQuery(now, rules, outcomes), rules);
  return now;
}

/** After feedback on a query. */
export function afterFeedback(
  trial: Trial,
  rules: TrialRules,
  selection: Selection,
  predictions: readonly ArmPrediction[],
  feedback: Feedback,
): Trial {
  if (trial.phase !== 'ramping' || rules.loss === null) return trial;
  const loss = lossAfter(trial, rules.loss, selection, predictions, feedback);
  return loss === undefined ? trial : judged({ ...trial, rails: { ...trial.rails, loss } }, rules);
}

function lossAfter(
  { candidate, incumbent, rails }: Trial,
  margin: number,
  { arms, shadows = [], propensity }: Selection,
  predictions: readonly ArmPrediction[],
  feedback: Feedback,
): Rail | undefined {
  // Of one that failed another rail knows.
  const [served] = arms;
  if (arms.length !== 1 || (served !== candidate && served !== incumbent)) return undefined;
  const isCandidate = served === candidate;
  const shadow = isCandidate ? incumbent : candidate;
  // It was asked beside another candidate.
  if (shadows.length > 0 && !shadows.includes(shadow)) return undefined;
  if (shadows.includes(shadow) && isKnown(shadow, feedback)) {
    const [own, other] = [candidate, incumbent].map((arm) => pairedLoss(arm, predictions, feedback));
    // A shadow that has not answered is no worse for it, and pairs in which the other one has failed would favour it.
    return own === undefined || other === undefined ? undefined : afterPair(rails.loss, own, other, margin);
  }
  // Of a context that keeps its arm nobody knows what the other one would have done.
  if (propensity >= 1) return undefined;
  if (
    answerOf(served, predictions) === undefined &&
    feedback.loss === undefined &&
    measuredLoss(served, feedback) === undefined
  )
    return undefined;
  // That of its draw: feedback may come when the candidate's share is another.
  const share = isCandidate ? propensity : 1 - propensity;
  return afterOne(rails.loss, isCandidate, lossOf(served, predictions, feedback), share, margin);
}

/** Without a label nobody knows of an answer that was not given. */
function isKnown(arm: Arm, feedback: Feedback): boolean {
  return feedback.label !== '' || measuredLoss(arm, feedback) !== undefined;
}

function pairedLoss(arm: Arm, predictions: readonly ArmPrediction[], feedback: Feedback): number | undefined {
  // Shadows are never late: of lateness another rail knows.
  const isLate = feedback.late?.includes(arm) === true;
  return isLate || !isKnown(arm, feedback) ? undefined : lossInVote(arm, predictions, feedback);
}

function afterQuery(trial: Trial, rules: TrialRules, outcomes: readonly ArmOutcome[]): Trial {
  const [first, second] = outcomes;
  const { candidate, incumbent, rails } = trial;
  if (trial.phase !== 'ramping' || first === undefined || first.kind === 'absent') return trial;
  const isCandidate = first.arm === candidate;
  if (!isCandidate && first.arm !== incumbent) return trial;
  const { share: chosen } = first;
  // Nobody else could have been asked: it was before this trial.
  if (chosen !== undefined && chosen >= 1) return trial;
  // That of its draw, where it is known: it may have taken longer than the step.
  const share = chosen === undefined ? candidateShare(trial, rules) : isCandidate ? chosen : 1 - chosen;
  const asked = trial.asked + (isCandidate ? 1 : 0);
  let { latency, errors } = rails;
  if (rules.errors !== null) {
    // What fails with both is the query's fault, or everybody's.
    const isFault = first.kind === 'failed' && (second === undefined || second.kind === 'answered');
    errors = afterOne(errors, isCandidate, isFault ? 1 : 0, share, rules.errors);
  }
  if (rules.latency !== null && first.kind !== 'failed') {
    const limitMs = trial.timed < LEAST_TIMED ? Infinity : rules.latency * trial.usualMs;
    const isSlow =
      first.kind === 'late' || (first.kind === 'answered' && !first.isCached && first.latencyMs > limitMs);
    latency = afterOne(latency, isCandidate, isSlow ? 1 : 0, share, SLOW_MARGIN);
  }
  const times = isCandidate ? undefined : timesAfter(trial, first);
  return { ...trial, ...times, asked, rails: { ...rails, latency, errors } };
}

/** Robbins and Monro 1951, on the logarithm: it rests where one in twenty takes longer. */
function timesAfter(
  { usualMs, timed }: Trial,
  outcome: ArmOutcome,
): Pick<Trial, 'usualMs' | 'timed'> | undefined {
  if (outcome.kind !== 'answered' || outcome.isCached) return undefined;
  const latencyMs = Math.max(outcome.latencyMs, 1e-3);
  if (timed === 0) return { usualMs: latencyMs, timed: 1 };
  const isAbove = latencyMs > usualMs;
  // While little is known, the largest one that was seen.
  if (isAbove && timed < LEAST_TIMED) return { usualMs: latencyMs, timed: timed + 1 };
  const by = FOLLOWS * (isAbove ? USUAL_SHARE : USUAL_SHARE - 1);
  return { usualMs: usualMs * Math.exp(by), timed: timed + 1 };
}

/** Whether what was seen ends the trial, or takes it a step on. */
function judged(trial: Trial, rules: TrialRules): Trial {
  if (trial.phase !== 'ramping') return trial;
  const { rails, asked, step } = trial;
  const { steps, queries, confidence } = rules;
  const risk = 1 - confidence;
  const margins = { errors: rules.errors, latency: rules.latency, loss: rules.loss } as const;
  const names = (['errors', 'latency', 'loss'] as const).filter((name) => margins[name] !== null);
  const broken = names.find((name) => isBroken(rails[name], risk, steps.length));
  if (broken !== undefined) {
    return { ...trial, phase: 'withdrawn', reason: `${broken}: ${comparison(broken, trial, rules)}` };
  }
  if (asked < queries) return trial;
  if (step < steps.length - 1) {
    const [loss, latency, errors] = [rails.loss, rails.latency, rails.errors].map(atNextStep);
    return { ...trial, step: step + 1, asked: 0, rails: { loss, latency, errors } };
  }
  if (!names.every((name) => isProven(rails[name], risk))) return trial;
  const compared = names.map((name) => comparison(name, trial, rules)).join('; ');
  return { ...trial, phase: 'promoted', reason: compared === '' ? 'its last step is over' : compared };
}

function comparison(
  name: keyof Trial['rails'],
  { rails, incumbent, usualMs, timed }: Trial,
  rules: TrialRules,
): string {
  const { candidate: own, incumbent: other } = rails[name];
  switch (name) {
    case 'loss':
      return `it loses ${mean(own)} over ${own.count} judged queries, '${incumbent}' ${mean(other)} over ${other.count}`;
    case 'errors':
      return `it failed ${times(own)}, '${incumbent}' ${times(other)}`;
    case 'latency': {
      const limitMs = Number(((rules.latency ?? 0) * usualMs).toPrecision(3));
      const slower = timed < LEAST_TIMED ? '' : `, or slower than ${limitMs} ms,`;
      return `it was late${slower} ${times(own)}, '${incumbent}' ${times(other)}`;
    }
  }
}

function mean({ count, sum }: Rail['candidate']): string {
  return count === 0 ? 'nothing' : String(Number((sum / count).toPrecision(3)));
}

function times({ count, sum }: Rail['candidate']): string {
  return `${sum} of ${count} times`;
}

export function isTrial(value: Json | undefined): value is Trial {
  if (value === undefined || !isRecord(value)) return false;
  const { incumbent, candidate, phase, reason, step, asked, rails, usualMs, timed } = value;
  return (
    typeof incumbent === 'string' &&
    typeof candidate === 'string' &&
    (phase === 'ramping' || phase === 'promoted' || phase === 'withdrawn') &&
    typeof reason === 'string' &&
    [step, asked, usualMs, timed].every((number) => finite(number) && number >= 0) &&
    Number.isInteger(step) &&
    rails !== undefined &&
    isRecord(rails) &&
    isRail(rails.loss) &&
    isRail(rails.latency) &&
    isRail(rails.errors)
  );
}
