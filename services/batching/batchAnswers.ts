import type { ResultFrame } from '../../containers/protocol/index.js';
import type { Clock } from '../../simulator/time/index.js';
import {
  deliverResults,
  isTypicalAnswer,
  misnumbered,
  serviceTimes,
  sharedFailure,
  type ResultListener,
} from './batchResults.js';
import type { BatchSender } from './batchSender.js';
import type { BatchSizeController } from './batchSize.js';
import type { Evaluation } from './evaluation.js';
import type { ReplicaReports } from './replicaReports.js';
import type { Served } from './served.js';
import type { SuspectInputs } from './suspectInputs.js';
import type { SuspectLanes } from './suspectLanes.js';

/** Whose replica it is that answers. */
export interface AnswerHost {
  /** A batch was answered: more may leave, if anybody waits. @returns whether the replica is still in use */
  dispatchMore(nowNs: number): boolean;
  /** One that shared a batch with what has spoilt it. */
  askAgain(evaluation: Evaluation, nowNs: number): void;
  /** What the container says cannot be told apart any more. */
  lose(reason: string): void;
}

export interface BatchAnswersOptions {
  readonly clock: Clock;
  /** The replica's name. */
  readonly replica: string;
  readonly sender: BatchSender;
  readonly controller: BatchSizeController;
  readonly served: Served;
  /** The model's. */
  readonly suspects: SuspectInputs;
  readonly lanes: SuspectLanes;
  readonly reports: ReplicaReports;
}

/** Makes outcomes of what one container answers, and learns from it. */
export class BatchAnswers implements ResultListener {
  constructor(
    private readonly parts: BatchAnswersOptions,
    private readonly host: AnswerHost,
  ) {}

  onResult(frame: ResultFrame, nowNs: number): void {
    const { sender, lanes, served, controller, suspects, reports, replica } = this.parts;
    const batch = sender.inFlight.get(frame.batchId);
    if (batch === undefined) {
      this.complain(`answered batch ${frame.batchId}, which is not in flight`);
      return;
    }
    const size = batch.items.length;
    const confusion = misnumbered(frame.results, size);
    if (confusion !== undefined) {
      const message = `answered batch ${batch.id} of ${size} items with ${confusion}`;
      this.complain(message);
      this.host.lose(message);
      return;
    }
    const times = serviceTimes(frame, nowNs - batch.sentNs, this);
    const { ownNs } = times;
    const { calls } = frame;
    suspects.arePartedInside ||= calls !== undefined && calls > 0;
    const shared = calls === undefined ? sharedFailure(frame.results, size) : undefined;
    const isTypical = isTypicalAnswer(frame, shared);
    sender.onAnswered(batch, nowNs, isTypical);
    served.count(size);
    lanes.onServed(batch.isLimited, ownNs);
    if (isTypical) {
      controller.observe({ size, limit: batch.limit, serviceNs: ownNs });
      served.learn(size, ownNs);
    }
    const wasAccused = size === 1 && batch.items[0].losses > 0;
    // The replica first: it computes while the answers go out. Only what follows from this answer comes after it.
    const isInUse = wasAccused || this.host.dispatchMore(nowNs);
    let failed = size;
    let failure = shared;
    if (shared === undefined || !isInUse) {
      const delivery = deliverResults(batch, frame.results, replica, calls, this);
      ({ failed, failure } = delivery);
      lanes.onDelivered(batch, delivery, wasAccused || (calls !== undefined && calls > 1));
      const { undecided, answered } = delivery;
      if (undecided.length > 0) this.retry(undecided, failed + answered > 0, failure ?? '', nowNs);
      if (wasAccused) this.host.dispatchMore(nowNs);
    } else {
      this.retry(batch.items, false, shared, nowNs);
    }
    reports.onAnswered(batch, controller.limit(), times, failed, failure);
  }

  complain(message: string): void {
    this.parts.reports.complain(message);
  }

  onOwnAnswer(evaluation: Evaluation, isOk: boolean): void {
    this.parts.suspects.onOwnAnswer(evaluation, isOk, this.parts.clock.nowNs());
  }

  private retry(items: readonly Evaluation[], areSome: boolean, message: string, nowNs: number): void {
    for (const evaluation of this.parts.lanes.accuse(items, areSome, message, nowNs))
      this.host.askAgain(evaluation, nowNs);
  }
}
