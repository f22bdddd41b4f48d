import { createHash } from 'node:crypto';
import type { ArmPrediction, Selection } from '../../selection/index.js';
import { SeenFeedback, type JudgedQuery, type LearnedState, type TriedTask } from '../feedback/index.js';
import type { Directory } from './directory.js';
import {
  FeedbackJoin,
  feedbackRefusal,
  learn,
  refused,
  type FeedbackWriter,
  type OnceOnly,
} from './feedbackJoin.js';
import type { Settlement } from './liveQuery.js';
import { badContext, unknownApplication, unknownQuery } from './refusals.js';
import type { ServedApplication } from './servedApplication.js';
import type { FeedbackDone, FeedbackOutcome, FeedbackRequest } from './types.js';

/** Keys of feedback that are remembered without asking the store. */
const REMEMBERED_KEYS = 65_536;

/** What the desk needs of the engine. */
export interface FeedbackDeskSources {
  readonly directory: Directory;
  /** What is remembered of a query; undefined: nothing. */
  judged(queryId: string): JudgedQuery | undefined;
  /** Whether this is the first judgement of the query; from now on it is judged. */
  judgeOnce(queryId: string): boolean;
  isJudged(queryId: string): boolean;
  readonly observer: FeedbackWriter;
  /** Asks the arms of a fresh draw for an input. */
  askArms(
    application: ServedApplication,
    state: LearnedState,
    request: FeedbackRequest,
    input: Uint8Array,
    settlement: Settlement,
  ): void;
}

/** Feedback with all that learning from it needs, here or by another process. */
export interface ResolvedFeedback extends FeedbackRequest {
  /** Of the query that is judged; undefined: its arms are asked for the input. */
  readonly selection?: Selection | undefined;
  readonly predictions?: readonly ArmPrediction[] | undefined;
  /** Arms that were late. */
  readonly late?: readonly string[] | undefined;
  /** Of models with a version on trial. */
  readonly tried?: readonly TriedTask[] | undefined;
}

/** What feedback is about. */
export type Judgement =
  | { readonly kind: 'resolved'; readonly feedback: ResolvedFeedback }
  /** Nothing is to be learned. */
  | { readonly kind: 'settled'; readonly outcome: FeedbackOutcome }
  /** The query is not remembered here. */
  | { readonly kind: 'unknown'; readonly outcome: FeedbackOutcome };

/** Feedback from its request to what is learned of it. */
export class FeedbackDesk {
  private readonly seen = new SeenFeedback<FeedbackOutcome>(REMEMBERED_KEYS);

  constructor(private readonly sources: FeedbackDeskSources) {}

  /** Learns here and now. */
  update(request: FeedbackRequest, done: FeedbackDone): void {
    const { idempotencyKey } = request;
    if (idempotencyKey === undefined) {
      this.learnNow(request, undefined, done);
      return;
    }
    const mark = keyMark(request.application, idempotencyKey);
    if (!this.seen.begin(mark, (outcome) => done(repeated(outcome)))) return;
    this.learnNow(request, { marks: [mark], isKeptElsewhere: false }, (outcome) => {
      this.seen.end(mark, outcome, outcome.accepted);
      done(outcome);
    });
  }

  private learnNow(request: FeedbackRequest, once: OnceOnly | undefined, done: FeedbackDone): void {
    const judgement = this.judge(request);
    if (judgement.kind !== 'resolved') {
      done(judgement.outcome);
      return;
    }
    const { queryId } = request;
    // The first judgement stands: whoever repeats one would outweigh everybody else.
    if (queryId !== undefined && judgement.feedback.selection !== undefined) this.sources.judgeOnce(queryId);
    this.learn(judgement.feedback, once, done);
  }

  /** What the feedback is about, and whether it may be learned from; nothing is changed by it. */
  judge(request: FeedbackRequest): Judgement {
    const application = this.sources.directory.application(request.application);
    const wrong =
      application === undefined
        ? unknownApplication(request.application)
        : feedbackRefusal(request, application);
    if (wrong !== undefined || application === undefined) {
      return settled(refused(wrong ?? unknownApplication(request.application)));
    }
    const { queryId } = request;
    const judged = queryId === undefined ? undefined : this.sources.judged(queryId);
    if (queryId !== undefined && judged !== undefined && judged.state.application === request.application) {
      const { state, chosen, ...known } = judged;
      // A pinned version's prediction is not the current version's, and was no choice of the policy.
      if (!chosen) return settled({ accepted: true, joined: 'query', durable: true });
      if (this.sources.isJudged(queryId)) {
        return settled({ accepted: true, joined: 'repeated', durable: state.clean });
      }
      return {
        kind: 'resolved',
        feedback: { ...request, context: state.context, ...known },
      };
    }
    if (request.input === undefined) return { kind: 'unknown', outcome: refused(unknownQuery(queryId)) };
    const badInput = application.inputRefusal(request.input) ?? application.featureRefusal(request.features);
    if (badInput !== undefined) return settled(refused(badInput));
    return { kind: 'resolved', feedback: request };
  }

  /** Of a query that nobody has judged, and whose only arm was late at a price. */
  judgeLate(application: ServedApplication, query: JudgedQuery): void {
    learn(application, query, {}, 'query', undefined, this.sources.observer, () => undefined);
  }

  /** From now on its query is judged. */
  markJudged(queryId: string): void {
    this.sources.judgeOnce(queryId);
  }

  /** Whether none of the arms that feedback credits is linked any more. */
  isLate(application: string, arms: readonly string[] | undefined): boolean {
    if (arms === undefined || arms.length === 0) return false;
    const models = this.sources.directory.application(application)?.models;
    return models === undefined || !arms.some((arm) => models.has(arm));
  }

  /** Lets the policy learn; of an input its arms are asked first. Calls back once what was learned is on disk. */
  learn(feedback: ResolvedFeedback, once: OnceOnly | undefined, done: FeedbackDone): void {
    const application = this.sources.directory.application(feedback.application);
    if (application === undefined) {
      done(refused(unknownApplication(feedback.application)));
      return;
    }
    let state: LearnedState;
    try {
      state = application.states.of(feedback.context);
    } catch (error) {
      done(refused(badContext(error)));
      return;
    }
    const { selection, predictions = [], input, features, late, tried } = feedback;
    const { observer } = this.sources;
    if (selection !== undefined)
      learn(
        application,
        { state, selection, predictions, features, late, tried },
        feedback,
        'query',
        once,
        observer,
        done,
      );
    else if (input !== undefined) {
      // Models and policy may take others than they did when it was accepted.
      const badInput = application.inputRefusal(input) ?? application.featureRefusal(features);
      if (badInput !== undefined) {
        done(refused(badInput));
        return;
      }
      const ask = (): void => {
        const join = new FeedbackJoin(feedback, once, observer, done);
        this.sources.askArms(application, state, feedback, input, join);
      };
      if (state.whenRead(ask)) ask();
    } else done(refused(unknownQuery(feedback.queryId)));
  }
}

/** How the store knows feedback with a key of its sender: applications have keys of their own. */
export function keyMark(application: string, key: string): string {
  return `k-${createHash('sha256').update(`${application}\n${key}`).digest('base64url')}`;
}

function settled(outcome: FeedbackOutcome): Judgement {
  return { kind: 'settled', outcome };
}

/** What is told of the same feedback again. */
function repeated(outcome: FeedbackOutcome): FeedbackOutcome {
  return outcome.accepted ? { ...outcome, joined: 'repeated' } : outcome;
}
