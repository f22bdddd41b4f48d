import type { LaunchClass } from '../../containers/protocol/index.js';
import type { Clock } from '../../simulator/time/index.js';
import type { BatchHold } from './batchHold.js';
import type { BatchSender } from './batchSender.js';
import type { BatchSizeController } from './batchSize.js';
import { isAbove } from './classQueue.js';
import type { Evaluation } from './evaluation.js';
import { failLate } from './expiryTimer.js';
import { takeBatch } from './nextBatch.js';
import type { Lane } from './suspectLanes.js';
import { isSuspect, type WaitingEvaluations } from './waitingEvaluations.js';

/** Decides when one replica's next batch leaves, and who travels in it. */
export class Departures {
  private isScheduled = false;
  private isDispatching = false;
  /** When suspects are looked at again who may not be sent yet. */
  private wakesNs = -Infinity;

  /**
   * @param port gets the event `dispatch` when batches may leave, and `held` when a hold is over.
   * @param highestClass that may come; one batch in flight is kept for it.
   */
  constructor(
    private readonly clock: Clock,
    private readonly port: string,
    private readonly controller: BatchSizeController,
    private readonly waiting: WaitingEvaluations,
    private readonly holding: BatchHold,
    private readonly sender: BatchSender,
    private highestClass: LaunchClass,
  ) {}

  setHighestClass(launchClass: LaunchClass): void {
    this.highestClass = launchClass;
    this.schedule(this.clock.nowNs());
  }

  /** One more waits. */
  onQueued(evaluation: Evaluation, nowNs: number): void {
    const isOneOfOthers = !isSuspect(evaluation);
    const isHeld = isOneOfOthers && this.holding.onQueued(this.controller.limit(), nowNs);
    if (this.sender.credits > 0 && !isHeld) this.schedule(nowNs);
    else if (isOneOfOthers) this.waiting.armExpiry();
  }

  /** Lets batches leave at the end of the present instant, if anybody waits: what arrives together travels together. */
  schedule(nowNs: number): void {
    if (this.waiting.size === 0 || this.isScheduled || this.isDispatching) return;
    this.isScheduled = true;
    this.clock.schedule(this.port, nowNs, 'dispatch');
  }

  onDue(kind: 'dispatch' | 'held', nowNs: number): void {
    if (kind === 'held') this.holding.onHeld();
    else this.isScheduled = false;
    this.dispatch(nowNs);
  }

  /** Sends what may leave now. */
  dispatch(nowNs: number): void {
    const { sender, controller } = this;
    const { lanes, others } = this.waiting;
    // A container in process may answer inside `send`: the loop below then goes on, and not a second one inside it.
    if (this.isDispatching) return;
    this.isDispatching = true;
    try {
      while (sender.credits > 0 && !sender.isClosed && !sender.inFlight.isAlone) {
        const turn = lanes.turn(others.size > 0, sender.inFlight.size > 0, nowNs);
        if (turn === 'nobody') break;
        if (turn !== 'others') this.sendSuspects(turn, nowNs);
        else if (!this.hasCredit()) break;
        // What bad sources have under way tells nothing of how long others may wait for company.
        else if (!lanes.isLimitedInFlight && this.holding.hold(controller.limit(), nowNs)) break;
        else this.sendOthers(nowNs);
      }
    } finally {
      this.isDispatching = false;
    }
    if (sender.isClosed) return;
    this.waiting.armExpiry();
    const dueNs = lanes.dueNs(nowNs);
    if (dueNs === Infinity || this.wakesNs > nowNs) return;
    this.wakesNs = dueNs;
    this.clock.schedule(this.port, dueNs, 'dispatch');
  }

  /** For those whose turn it is: a lower class leaves the last one to the highest that may come, where there are several. */
  private hasCredit(): boolean {
    const { others } = this.waiting;
    if (others.size === 0) return false;
    const isLast = this.sender.credits === 1 && this.sender.inFlight.size > 0;
    return !isLast || !isAbove(this.highestClass, others.nextClass);
  }

  /** Sends the next suspects that may travel together. */
  private sendSuspects(lane: Lane, nowNs: number): void {
    const { lanes } = this.waiting;
    const { inFlight } = this.sender;
    const limit = this.controller.limit();
    const group = lanes.take(lane, limit, nowNs);
    // As in other batches: one that is late anyway would only make the next one late, and an idle replica is asked.
    const reachNs = nowNs + (inFlight.size === 0 ? 0 : inFlight.estimate.batchNs(2 * group.length));
    const evaluations = group.filter(({ expiresNs }) => expiresNs > reachNs);
    if (evaluations.length > 0) {
      if (lane === 'limited') lanes.onLimitedSent();
      this.sender.send(evaluations, limit, nowNs, lane);
    }
    for (const evaluation of group) if (evaluation.expiresNs <= reachNs) failLate(evaluation, nowNs);
  }

  /** Sends the most urgent evaluations that can still be in time, of the class whose turn it is. */
  private sendOthers(nowNs: number): void {
    const { inFlight } = this.sender;
    const limit = this.controller.limit();
    const { lanes, others } = this.waiting;
    lanes.onOthersSent();
    const isIdle = inFlight.size === 0;
    const { next } = others;
    const { expectedNs } = inFlight.roundTrips;
    const { evaluations, hopeless } = takeBatch(next, limit, nowNs, expectedNs, isIdle, lanes.divert);
    this.holding.onSent();
    if (evaluations.length > 0) this.sender.send(evaluations, limit, nowNs);
    // Only now: whoever hears of it may send more, or cancel what is about to be sent.
    if (hopeless !== undefined) for (const evaluation of hopeless) failLate(evaluation, nowNs);
  }
}
