import { judgedLosses, labelFault, type Loss } from '../../selection/index.js';
import type { JudgedQuery, Learned } from '../feedback/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { taskRefusal } from './answers.js';
import { policyFeedback, type PolicyFeedback } from './judgement.js';
import type { LiveQuery, Settlement } from './liveQuery.js';
import type { PredictionObserver } from './observer.js';
import type { ServedApplication } from './servedApplication.js';
import type { FeedbackDone, FeedbackOutcome, FeedbackRequest, QueryRefusal } from './types.js';

/** What is wrong with feedback itself, or undefined. */
export function feedbackRefusal(
  { label, loss, losses }: FeedbackRequest,
  { record, models }: ServedApplication,
): QueryRefusal | undefined {
  if (label === undefined && loss === undefined && losses === undefined) {
    return invalid('label', 'label is required where neither loss, reward nor losses are there');
  }
  if (label !== undefined && typeof label !== 'string') {
    return invalid('label', 'label must be text, which is compared with what the models answered');
  }
  const fault = record.loss === undefined || label === undefined ? undefined : labelFault(record.loss, label);
  if (fault !== undefined) return invalid('label', fault);
  for (const [name, value] of Object.entries(losses ?? {})) {
    if (!models.has(name)) {
      const linked = [...models.keys()].join(', ') || 'none';
      return invalid(`losses.${name}`, `no linked model has the name '${name}': linked are ${linked}`);
    }
    if (!(typeof value === 'number' && value >= 0 && value <= 1)) {
      return invalid(`losses.${name}`, `losses.${name} must be a number from 0 (right) to 1 (wrong)`);
    }
  }
  if (loss !== undefined && !(typeof loss === 'number' && loss >= 0 && loss <= 1)) {
    return invalid('loss', `loss must be a number from 0 (right) to 1 (wrong), not ${String(loss)}`);
  }
  return undefined;
}

export function refused(refusal: QueryRefusal): FeedbackOutcome {
  return { accepted: false, joined: 'none', durable: false, refusal };
}

/** Who writes down what was judged. */
export type FeedbackWriter = Pick<PredictionObserver, 'writesFeedback' | 'onJudged'>;

/** How the store knows feedback that is to be learned once, and who keeps it until then. */
export interface OnceOnly {
  readonly marks: readonly string[];
  /** Of `Observation`. */
  readonly isKeptElsewhere: boolean;
}

/** Lets the policy learn from the predictions that a query has, and reports once that is on disk. */
export function learn(
  application: ServedApplication,
  query: Omit<JudgedQuery, 'chosen'>,
  request: Pick<FeedbackRequest, 'label' | 'loss' | 'losses'>,
  joined: FeedbackOutcome['joined'],
  once: OnceOnly | undefined,
  observer: FeedbackWriter,
  done: FeedbackDone,
): void {
  const { hosted, record } = application;
  const { fileLoss } = record;
  const { label } = request;
  if (fileLoss === undefined || hosted === undefined || label === undefined) {
    learnBy(application.loss, application, query, request, joined, once, observer, done);
    return;
  }
  // Of versions on trial, too, which the same label judges.
  const judged = [query, ...(query.tried ?? [])].flatMap(({ predictions }) => predictions);
  const outputs = [...new Set(judged.map(({ output }) => output))];
  hosted.measure(fileLoss, label, outputs, (losses, why, isPassing) => {
    if (losses === undefined) {
      const code = isPassing ? 'feedback_not_kept' : 'unlearnable_feedback';
      done(refused({ code, field: 'label', message: why }));
      return;
    }
    const measured = new Map(outputs.map((output, at) => [output, losses[at]]));
    const measure: Loss = (output) => measured.get(output) ?? 1;
    learnBy(measure, application, query, request, joined, once, observer, done);
  });
}

/** @param measure undefined: right or wrong */
function learnBy(
  measure: Loss | undefined,
  application: ServedApplication,
  query: Omit<JudgedQuery, 'chosen'>,
  request: Pick<FeedbackRequest, 'label' | 'loss' | 'losses'>,
  joined: FeedbackOutcome['joined'],
  once: OnceOnly | undefined,
  observer: FeedbackWriter,
  done: FeedbackDone,
): void {
  const { state, selection, predictions, features } = query;
  const { late = [] } = query;
  const { lossOfLate } = application;
  const lateness = lossOfLate === undefined ? undefined : { arms: late, loss: lossOfLate };
  const judged = policyFeedback(selection, predictions, request, measure, lateness);
  if (judged === undefined) {
    done({ accepted: true, joined, durable: true });
    return;
  }
  state.observe({
    selection,
    ...judged,
    features,
    marks: once?.marks,
    isKeptElsewhere: once?.isKeptElsewhere,
    done: (became, error) => {
      if (became !== 'repeated' && became !== 'poisonous')
        judgeVersions(application, query, request, measure);
      // What was judged before is in the log already.
      if (observer.writesFeedback && became !== 'repeated' && became !== 'poisonous') {
        writeDown(application, query, judged, observer);
      }
      done(outcomeOf(became, joined, error));
    },
  });
}

/** Versions on trial are judged by the same feedback. */
function judgeVersions(
  { models }: ServedApplication,
  { selection, tried = [] }: Omit<JudgedQuery, 'chosen'>,
  request: Pick<FeedbackRequest, 'label' | 'loss' | 'losses'>,
  measure: Loss | undefined,
): void {
  const isAlone = selection.arms.length === 1;
  for (const task of tried) models.get(task.model)?.trial?.judge(task, request, isAlone, measure);
}

function writeDown(
  { record, policy, models }: ServedApplication,
  { state, selection, features }: Omit<JudgedQuery, 'chosen'>,
  { feedback, predictions }: PolicyFeedback,
  observer: FeedbackWriter,
): void {
  const losses = judgedLosses(selection, predictions, feedback);
  if (Object.keys(losses).length === 0) return;
  observer.onJudged({
    application: record.name,
    policy: policy.name,
    context: state.context,
    features,
    linked: [...models.keys()],
    propensity: policy.isPropensityUnknown === true ? undefined : selection.propensity,
    losses,
  });
}

function outcomeOf(became: Learned, joined: FeedbackOutcome['joined'], error: unknown): FeedbackOutcome {
  switch (became) {
    case 'learned':
    case 'unwritten':
      return { accepted: true, joined, durable: became === 'learned' };
    case 'repeated':
    case 'pinned':
      return { accepted: true, joined: became, durable: true };
    case 'poisonous':
      return refused({
        code: 'unlearnable_feedback',
        field: 'label',
        message: `the application's policy fails on this feedback, of which nothing was learned: ${reasonOf(error)}`,
      });
  }
}

/**
 * Feedback by input: the arms of a fresh draw are looked up in the cache or evaluated, and credited with the propensity
 * of that draw. Which arm once served the input is not known, and crediting whatever the cache holds would favour the
 * arms that are asked seldom; a fresh draw keeps the estimate unbiased.
 */
export class FeedbackJoin implements Settlement {
  constructor(
    private readonly request: FeedbackRequest,
    private readonly once: OnceOnly | undefined,
    private readonly observer: FeedbackWriter,
    private readonly done: FeedbackDone,
  ) {}

  onRefused(refusal: QueryRefusal): void {
    this.done(refused(refusal));
  }

  onSettled(live: LiveQuery): void {
    const { tasks } = live;
    const refusal = taskRefusal(live);
    if (refusal !== undefined) {
      this.done(refused(refusal));
      return;
    }
    // A queue that was full or a replica that was away says nothing about the model; its own failure does. An ensemble
    // learns from whatever has arrived.
    const judgeable = tasks.some((task) => task.arrived || task.failure?.reason === 'model_error');
    if (!judgeable) {
      this.done({ accepted: false, joined: 'none', durable: false });
      return;
    }
    const joined = tasks.every((task) => task.cached) ? 'cache' : 'evaluated';
    learn(live.application, live.judged(), this.request, joined, this.once, this.observer, this.done);
  }
}

function invalid(field: string, message: string): QueryRefusal {
  return { code: 'invalid_input', field, message };
}
