import {
  canaryPolicy,
  KeyedDraw,
  trialOf,
  type ArmOutcome,
  type CanaryState,
  type Draw,
  type Json,
} from '../../selection/index.js';

export const INCUMBENT = 'old';
export const CANDIDATE = 'new';

/** Two versions of a model, by what they do with a query. */
export interface Pair {
  readonly name: string;
  /** Share of queries on which both err, and on which only one does. */
  readonly bothErr: number;
  readonly onlyOldErrs: number;
  readonly onlyNewErrs: number;
  /** How many times the old one's an answer of the new one takes; 1 unless given. */
  readonly slower?: number;
  /** How often the new one fails; never unless given. */
  readonly fails?: number;
  readonly parameters?: Json;
}

export type Phase = 'ramping' | 'promoted' | 'withdrawn';

/** What became of a candidate. */
export interface Trial {
  readonly phase: Phase;
  readonly reason: string;
  /** Queries until then. */
  readonly queries: number;
  /** Of them those that the candidate answered. */
  readonly served: number;
}

export interface CanaryRow {
  readonly name: string;
  readonly trials: readonly Trial[];
}

/** As many as the engine tells a policy of at once. */
const TOLD_AT_ONCE = 16;

/** As versions of a model that were trained alike: they differ on few queries. */
export function alike(name: string, errs: number, differs: number, worse: number): Pair {
  const onlyOldErrs = (differs - worse) / 2;
  return { name, bothErr: errs - onlyOldErrs, onlyOldErrs, onlyNewErrs: onlyOldErrs + worse };
}

/** As models that know nothing of one another. */
export function independent(name: string, errs: number, worse: number): Pair {
  const newErrs = errs + worse;
  return {
    name,
    bothErr: errs * newErrs,
    onlyOldErrs: errs * (1 - newErrs),
    onlyNewErrs: newErrs * (1 - errs),
  };
}

/** By how much the new one errs more often, and on how many queries they differ. */
export function differenceOf({ onlyOldErrs, onlyNewErrs }: Pair): { worse: number; differs: number } {
  return { worse: onlyNewErrs - onlyOldErrs, differs: onlyOldErrs + onlyNewErrs };
}

/** One candidate from its first query to its end, or to the last query. Every query is judged, by the label. */
export function tryCandidate(pair: Pair, queries: number, seed: number): Trial {
  const draws = new KeyedDraw(seed);
  let state: CanaryState = canaryPolicy.init([INCUMBENT, CANDIDATE], pair.parameters ?? null);
  let told: (readonly ArmOutcome[])[] = [];
  let served = 0;
  for (let at = 0; at < queries; at++) {
    const next = draws.of(`${at}`);
    const selection = canaryPolicy.select(state, next);
    const outcomes = outcomesOf(pair, selection.arms[0], next);
    if (selection.arms[0] === CANDIDATE) served += 1;
    told.push([{ ...outcomes[0], share: selection.propensity }, ...outcomes.slice(1)]);
    if (told.length === TOLD_AT_ONCE) {
      state = canaryPolicy.notice?.(state, told) ?? state;
      told = [];
    }
    const answered = [...selection.arms, ...(selection.shadows ?? [])];
    const errs = whoErrs(pair, next());
    const predictions = answered
      .filter((arm) => !outcomes.some((outcome) => outcome.arm === arm && outcome.kind !== 'answered'))
      .map((arm) => ({ arm, output: errs.includes(arm) ? 'wrong' : 'right' }));
    state = canaryPolicy.observe(state, selection, predictions, { label: 'right' });
    const trial = trialOf(state);
    if (trial !== undefined && trial.phase !== 'ramping') {
      return { phase: trial.phase, reason: trial.reason, queries: at + 1, served };
    }
  }
  return { phase: 'ramping', reason: '', queries, served };
}

/** The policy asks the other one where one fails. */
function outcomesOf({ slower = 1, fails = 0 }: Pair, arm: string, next: Draw): readonly ArmOutcome[] {
  // 5 ms, and half of that more or less.
  const latencyMs = 5 * Math.exp(next() - 0.5);
  const isFailed = next() < fails;
  if (arm !== CANDIDATE) return [{ arm, kind: 'answered', latencyMs, isCached: false }];
  if (!isFailed) return [{ arm, kind: 'answered', latencyMs: latencyMs * slower, isCached: false }];
  return [
    { arm, kind: 'failed' },
    { arm: INCUMBENT, kind: 'answered', latencyMs, isCached: false },
  ];
}

function whoErrs({ bothErr, onlyOldErrs, onlyNewErrs }: Pair, drawn: number): readonly string[] {
  if (drawn < bothErr) return [INCUMBENT, CANDIDATE];
  if (drawn < bothErr + onlyOldErrs) return [INCUMBENT];
  return drawn < bothErr + onlyOldErrs + onlyNewErrs ? [CANDIDATE] : [];
}

/** The same with each of so many seeds. */
export function tryWithSeeds(pair: Pair, queries: number, seeds: number, seed: number): CanaryRow {
  return {
    name: pair.name,
    trials: Array.from({ length: seeds }, (_, at) => tryCandidate(pair, queries, seed + at)),
  };
}

/** How many ended so within so many queries. */
export function endedWithin({ trials }: CanaryRow, phase: Phase, within: number): number {
  return trials.filter((trial) => trial.phase === phase && trial.queries <= within).length;
}

/** By the middle one of those that ended so; undefined: none did. */
export function usualTrial({ trials }: CanaryRow, phase: Phase): Trial | undefined {
  const ended = trials
    .filter((trial) => trial.phase === phase)
    .sort((one, other) => one.queries - other.queries);
  return ended.at(Math.floor(ended.length / 2));
}

/** 2 points worse, equal, better; slower; failing. */
export const PAIRS: readonly Pair[] = [
  alike('2 points worse, differing on 2 %', 0.1, 0.02, 0.02),
  alike('2 points worse, differing on 4 %', 0.1, 0.04, 0.02),
  alike('2 points worse, differing on 6 %', 0.1, 0.06, 0.02),
  independent('2 points worse than 2 %, independent', 0.02, 0.02),
  independent('2 points worse than 10 %, independent', 0.1, 0.02),
  alike('5 points worse, differing on 9 %', 0.1, 0.09, 0.05),
  alike('equal, the same answers', 0.1, 0, 0),
  alike('equal, differing on 2 %', 0.1, 0.02, 0),
  alike('equal, differing on 4 %', 0.1, 0.04, 0),
  alike('equal, differing on 6 %', 0.1, 0.06, 0),
  independent('equal at 10 %, independent', 0.1, 0),
  alike('2 points better, differing on 4 %', 0.1, 0.04, -0.02),
  { ...alike('twice as slow', 0.1, 0.02, 0), slower: 2 },
  { ...alike('a tenth slower', 0.1, 0.02, 0), slower: 1.1 },
  { ...alike('fails 5 % of queries', 0.1, 0.02, 0), fails: 0.05 },
  { ...alike('fails all queries', 0.1, 0.02, 0), fails: 1 },
  {
    ...alike('2 points worse, differing on 4 %, not compared', 0.1, 0.04, 0.02),
    parameters: { compared: 0 },
  },
  { ...alike('equal, differing on 4 %, not compared', 0.1, 0.04, 0), parameters: { compared: 0 } },
];
