import { dealtArm } from '../dealtArm.js';
import {
  distinctArms,
  numberIn,
  optionalName,
  parameterObject,
  shareFrom,
  type JsonObject,
} from '../parameters.js';
import {
  PolicyError,
  type Arm,
  type Combination,
  type Json,
  type Selection,
  type SelectionPolicy,
} from '../policy.js';
import { isRecord, numberList, stringList } from '../stateShape.js';
import { answerOf } from '../votes.js';
import {
  afterFeedback,
  afterQueries,
  candidateShare,
  isTrial,
  newTrial,
  type Trial,
  type TrialRules,
} from './trial.js';

export const CANARY_SCHEMA = 1;

export type CanaryState = {
  readonly schema: typeof CANARY_SCHEMA;
  readonly policy: 'canary';
  readonly arms: readonly Arm[];
  /** The model that serves; null: the one that was linked first. */
  readonly model: Arm | null;
  /** The one that is tried; null: the first other one. */
  readonly candidate: Arm | null;
  /** Of the queries that have a share of one of them, the other is asked as well. */
  readonly compared: number;
  /** The last one that was seen of; of other models than the present ones it is over. */
  readonly trial: Trial | null;
} & TrialRules;

const DEFAULT_STEPS: readonly number[] = [0.05, 0.2, 0.5];
const MOST_STEPS = 16;
/** A smaller part of the queries takes a million of them to say anything. */
const LEAST_SHARE = 1e-4;
const DEFAULT_QUERIES = 50;
const MOST_QUERIES = 1e6;
/** What is smaller takes more than ten thousand queries to show even where nobody ever errs. */
const LEAST_MARGIN = 1e-4;
const DEFAULT_LOSS = 0.02;
const DEFAULT_LATENCY = 1.5;
const DEFAULT_ERRORS = 0.01;
const DEFAULT_CONFIDENCE = 0.95;

/**
 * One model serves, and another gets a share of the queries that grows step by step, until it is shown to be worse and gets none,
 * or to be no worse than a margin and gets all. Whichever fails, the other is asked. Queries that one answers are asked of the other as well, as its
 * shadow, so that a label judges both: what they differ in is seen much sooner than how often each errs.
 */
export const canaryPolicy: SelectionPolicy<CanaryState> = {
  name: 'canary',
  isShared: true,
  parameters: [
    'model',
    'candidate',
    'steps',
    'queries',
    'loss',
    'latency',
    'errors',
    'confidence',
    'compared',
  ],

  init(arms, parameters) {
    const given = parameterObject('canary', parameters, canaryPolicy.parameters);
    const model = optionalName(given, 'model');
    const candidate = optionalName(given, 'candidate');
    if (model !== null && model === candidate) {
      throw new PolicyError(
        'parameters.candidate',
        `candidate must be another model than '${model}', which serves`,
      );
    }
    return {
      schema: CANARY_SCHEMA,
      policy: 'canary',
      arms: distinctArms(arms),
      model,
      candidate,
      steps: stepsFrom(given),
      queries: wholeNumberFrom(given, 'queries', DEFAULT_QUERIES),
      loss: marginFrom(given, 'loss', DEFAULT_LOSS),
      latency: given.latency === null ? null : numberIn(given, 'latency', 1, 1000, DEFAULT_LATENCY),
      errors: marginFrom(given, 'errors', DEFAULT_ERRORS),
      confidence: confidenceFrom(given),
      compared: shareFrom(given, 'compared', 1),
      trial: null,
    };
  },

  restore(value: Json): CanaryState {
    if (
      !isRecord(value) ||
      value.schema !== CANARY_SCHEMA ||
      value.policy !== 'canary' ||
      !stringList(value.arms) ||
      !(value.trial === null || isTrial(value.trial))
    ) {
      throw new PolicyError('state', `this is no state of policy 'canary', schema ${CANARY_SCHEMA}`);
    }
    const parameters = Object.fromEntries(canaryPolicy.parameters.map((name) => [name, value[name]]));
    return { ...canaryPolicy.init(value.arms, parameters), trial: value.trial };
  },

  reconcile(state, arms) {
    return { ...state, arms: distinctArms(arms) };
  },

  select(state, draw, query): Selection {
    const incumbent = incumbentOf(state);
    if (incumbent === undefined) return { arms: [], propensity: 1 };
    const trial = trialOf(state);
    if (trial === undefined) return { arms: [incumbent], propensity: 1 };
    const { candidate, phase } = trial;
    if (phase !== 'ramping') return { arms: [phase === 'promoted' ? candidate : incumbent], propensity: 1 };
    const share = candidateShare(trial, state);
    const context = query?.context ?? '';
    const shareOf = (arm: Arm): number => (arm === candidate ? share : 1 - share);
    const served = dealtArm([incumbent, candidate], shareOf, context, '', draw) ?? incumbent;
    const isCompared = state.loss !== null && (state.compared === 1 || draw() < state.compared);
    return {
      arms: [served],
      ...(isCompared ? { shadows: [served === candidate ? incumbent : candidate] } : {}),
      // A context keeps its arm: that is no draw.
      ...(context === '' ? { propensity: shareOf(served) } : { propensity: 1, share: shareOf(served) }),
    };
  },

  escalate(state, asked, arrived): Arm | undefined {
    const trial = trialOf(state);
    if (trial?.phase !== 'ramping' || asked.length !== 1 || answerOf(asked[0], arrived) !== undefined)
      return undefined;
    if (asked[0] === trial.candidate) return trial.incumbent;
    return asked[0] === trial.incumbent ? trial.candidate : undefined;
  },

  combine(_state, asked, arrived): Combination {
    for (const arm of asked) {
      const answer = answerOf(arm, arrived);
      if (answer !== undefined) return { output: answer.output, confidence: 1 };
    }
    return { output: undefined, confidence: 0 };
  },

  notice(state, queries) {
    const trial = trialOf(state);
    return trial === undefined ? state : withTrial(state, trial, afterQueries(trial, state, queries));
  },

  observe(state, selection, predictions, feedback) {
    const trial = trialOf(state);
    if (trial === undefined) return state;
    return withTrial(state, trial, afterFeedback(trial, state, selection, predictions, feedback));
  },

  shares(state) {
    const incumbent = incumbentOf(state);
    const trial = trialOf(state);
    const share = trial === undefined ? 0 : candidateShare(trial, state);
    return new Map(
      state.arms.map((arm) => [arm, arm === incumbent ? 1 - share : arm === trial?.candidate ? share : 0]),
    );
  },
};

/** The trial of the present models; undefined: there is nobody to try. */
export function trialOf(state: CanaryState): Trial | undefined {
  const incumbent = incumbentOf(state);
  const candidate = state.candidate ?? state.arms.find((arm) => arm !== incumbent);
  if (
    incumbent === undefined ||
    candidate === undefined ||
    candidate === incumbent ||
    !state.arms.includes(candidate)
  )
    return undefined;
  const { trial } = state;
  if (trial?.incumbent === incumbent && trial.candidate === candidate) return trial;
  return newTrial(incumbent, candidate);
}

function withTrial(state: CanaryState, before: Trial, after: Trial): CanaryState {
  return after === before ? state : { ...state, trial: after };
}

function incumbentOf({ model, candidate, arms }: CanaryState): Arm | undefined {
  if (model === null) return arms.find((arm) => arm !== candidate) ?? arms[0];
  return arms.includes(model) ? model : undefined;
}

/** @throws PolicyError */
function stepsFrom(parameters: JsonObject): readonly number[] {
  const value = parameters.steps;
  if (value === undefined) return DEFAULT_STEPS;
  const isRamp =
    numberList(value) &&
    value.length > 0 &&
    value.length <= MOST_STEPS &&
    value.every(
      (share, at) => share >= LEAST_SHARE && share <= 1 - LEAST_SHARE && (at === 0 || share > value[at - 1]),
    );
  if (isRamp) return [...value];
  throw new PolicyError(
    'parameters.steps',
    `steps must be a list of up to ${MOST_STEPS} shares from ${LEAST_SHARE} to ${1 - LEAST_SHARE}, each above the one before, such as [0.05, 0.2, 0.5], not ${JSON.stringify(value)}`,
  );
}

/** @throws PolicyError */
function wholeNumberFrom(parameters: JsonObject, name: string, byDefault: number): number {
  const value = numberIn(parameters, name, 0, MOST_QUERIES, byDefault);
  if (Number.isInteger(value)) return value;
  throw new PolicyError(`parameters.${name}`, `${name} must be a whole number, not ${value}`);
}

/** @throws PolicyError */
function marginFrom(parameters: JsonObject, name: 'loss' | 'errors', byDefault: number): number | null {
  if (parameters[name] === null) return null;
  const value = numberIn(parameters, name, 0, 1, byDefault);
  if (value >= LEAST_MARGIN) return value;
  throw new PolicyError(
    `parameters.${name}`,
    `${name} must be at least ${LEAST_MARGIN}, or null, not ${value}: so small a margin is never shown in reasonable time`,
  );
}

/** @throws PolicyError */
function confidenceFrom(parameters: JsonObject): number {
  const value = numberIn(parameters, 'confidence', 0, 1, DEFAULT_CONFIDENCE);
  if (value >= 0.5 && value < 1) return value;
  throw new PolicyError(
    'parameters.confidence',
    `confidence must be a number from 0.5 and below 1, such as 0.95, not ${value}`,
  );
}
