import type {
  BatchItem,
  ContainerChannel,
  ContainerFrame,
  FrameSink,
  FrontendFrame,
  HelloFrame,
  ItemResult,
  ResultFrame,
} from '../../containers/protocol/index.js';
import type { Clock, EventSink } from '../../simulator/time/index.js';
import type { PredictionFailure } from '../cache/index.js';
import type { BatchingObserver, ReplicaStatus } from './batchRecord.js';
import type { BatchSizeController } from './batchSize.js';
import { DeadlineHeap } from './deadlineHeap.js';
import type { Evaluation } from './evaluation.js';
import { RecentRoundTrips } from './recentRoundTrips.js';
import { ServiceEstimate } from './serviceEstimate.js';

/** Weight of the newest batch in running means. */
const NEWEST_WEIGHT = 0.2;

/**
 * A batch that would only wait behind another one inside the container leaves when half of that one's service is over:
 * what arrives until then travels in it. Its answer comes no later for it.
 */
const LEAD_SHARE = 0.5;
/** Services shorter than this are not worth a timer. */
const SHORTEST_HOLD_NS = 1e6;

const EXPIRED: PredictionFailure = {
  reason: 'expired',
  message: 'it waited in the queue until its deadline',
};

const HOPELESS: PredictionFailure = {
  reason: 'expired',
  message: 'it waited too long in the queue to be answered by its deadline',
};

interface Batch {
  readonly id: number;
  readonly items: Evaluation[];
  readonly limit: number;
  readonly sentNs: number;
  readonly longestQueueNs: number;
  readonly totalQueueNs: number;
}

export interface ReplicaQueueOptions {
  readonly clock: Clock;
  /** The queue's name on the clock. */
  readonly port: string;
  readonly channel: ContainerChannel;
  readonly hello: HelloFrame;
  readonly controller: BatchSizeController;
  /** Evaluations that may wait; more are refused. */
  readonly maxQueued: number;
  readonly observer: BatchingObserver;
  /** Told once, with everything that was queued or sent and not answered. */
  readonly onLost: (queue: ReplicaQueue, stranded: Evaluation[], reason: string) => void;
}

/**
 * The adaptive batching queue of one replica (Clipper 4.3): earliest deadline first, as many batches in flight as the
 * container gave credits, each as large as the queue and the controller allow and never padded. One timer on the clock
 * serves all who wait.
 */
export class ReplicaQueue implements EventSink, FrameSink<ContainerFrame> {
  readonly hello: HelloFrame;
  readonly controller: BatchSizeController;
  private readonly clock: Clock;
  private readonly port: string;
  private readonly channel: ContainerChannel;
  private readonly maxQueued: number;
  private readonly observer: BatchingObserver;
  private readonly onLost: ReplicaQueueOptions['onLost'];
  private readonly waiting = new DeadlineHeap<Evaluation>();
  private readonly inFlight = new Map<number, Batch>();
  private inFlightItems = 0;
  private credits: number;
  private nextBatchId = 1;
  private itemNs: number | undefined;
  private readonly roundTrips = new RecentRoundTrips();
  private readonly estimate = new ServiceEstimate();
  private lastResultNs = -Infinity;
  /** The latest deadline that was ever queued: whoever is due later has everybody before it. */
  private latestDeadlineNs = -Infinity;
  /** When the hold timer fires; Infinity when none is set. */
  private holdNs = Infinity;
  private holdTimer = -1;
  private batches = 0;
  private items = 0;
  private dispatchScheduled = false;
  private dispatching = false;
  /** When the expiry timer fires; Infinity when none is set. */
  private timerNs = Infinity;
  private timer = -1;
  private down = false;
  /** Set once it takes nothing new: told when the last of what it has is answered. */
  private onRetired: (() => void) | undefined;
  /** Time with a batch in flight, up to the present one's begin. */
  private pastBusyNs = 0;
  private busySinceNs = 0;

  constructor(options: ReplicaQueueOptions) {
    this.hello = options.hello;
    this.controller = options.controller;
    this.clock = options.clock;
    this.port = options.port;
    this.channel = options.channel;
    this.maxQueued = options.maxQueued;
    this.observer = options.observer;
    this.onLost = options.onLost;
    this.credits = options.hello.credits;
    this.clock.attach(this.port, this);
  }

  get full(): boolean {
    return this.waiting.size >= this.maxQueued;
  }

  /** Items that the replica has before it. */
  get backlog(): number {
    return this.waiting.size + this.inFlightItems;
  }

  /** Mean service time an item, of late; undefined before the first answer. */
  get meanItemNs(): number | undefined {
    return this.itemNs;
  }

  /**
   * By how much an evaluation would miss its expiry behind what the replica has before it; not above 0 when it can be in
   * time. Hopeful wherever nothing is known: an idle replica takes everything, batches are expected to grow, and one that
   * is slower than ever is expected to be done any moment.
   */
  lateByNs(evaluation: Evaluation, nowNs: number): number {
    if (!this.estimate.known || (this.inFlight.size === 0 && this.waiting.size === 0)) return 0;
    const budgetNs = evaluation.expiresNs - nowNs;
    const lateNs = this.answerNs(this.waiting.size, nowNs) - budgetNs;
    if (lateNs <= 0 || evaluation.deadlineNs >= this.latestDeadlineNs) return lateNs;
    return this.answerNs(this.waiting.countDueBy(evaluation.deadlineNs), nowNs) - budgetNs;
  }

  /**
   * Takes an evaluation in. Batches form at the end of the present instant, so that what arrives together travels
   * together. The caller checks `full` first.
   */
  enqueue(evaluation: Evaluation, nowNs: number): void {
    evaluation.state = 'queued';
    evaluation.queue = this;
    this.waiting.push(evaluation);
    if (evaluation.deadlineNs > this.latestDeadlineNs) this.latestDeadlineNs = evaluation.deadlineNs;
    // While a batch is held back, only a full one leaves before its time.
    const isHeld = this.holdNs !== Infinity && this.waiting.size < this.limit;
    if (this.credits > 0 && !isHeld) this.scheduleDispatch(nowNs);
    else this.armExpiry();
  }

  /** Somebody else waits for it too, from `deadlineNs` until `expiresNs`. */
  extend(evaluation: Evaluation, deadlineNs: number, expiresNs: number): void {
    if (expiresNs > evaluation.expiresNs) evaluation.expiresNs = expiresNs;
    if (deadlineNs < evaluation.deadlineNs) {
      evaluation.deadlineNs = deadlineNs;
      this.waiting.expedite(evaluation);
    }
  }

  /** Nobody waits for it any more: it leaves the queue, or the container is told that it may skip it. */
  cancel(evaluation: Evaluation): void {
    if (evaluation.state === 'queued') {
      this.waiting.remove(evaluation);
    } else if (evaluation.state === 'sent' && !this.down) {
      this.send({ kind: 'cancel', batchId: evaluation.batchId, itemIds: [evaluation.itemId] });
    }
    evaluation.state = 'done';
  }

  onFrame(frame: ContainerFrame): void {
    if (this.down) return;
    switch (frame.kind) {
      case 'result':
        this.onResult(frame);
        return;
      case 'credit':
        if (Number.isSafeInteger(frame.credits) && frame.credits > 0) this.credits += frame.credits;
        else this.complain(`granted ${frame.credits} credits: a whole number above 0 is expected`);
        if (this.waiting.size > 0) this.scheduleDispatch(this.clock.nowNs());
        return;
      case 'down':
        this.lose(frame.reason);
        return;
      case 'printed':
        return;
      case 'hello':
        this.complain('sent a second hello');
        return;
    }
  }

  onEvent(kind: string, _payload: unknown, nowNs: number): void {
    switch (kind) {
      case 'held':
        this.holdNs = Infinity;
        this.dispatch(nowNs);
        break;
      case 'dispatch':
        this.dispatchScheduled = false;
        this.dispatch(nowNs);
        break;
      case 'expire':
        this.timerNs = Infinity;
        this.expire(nowNs);
        this.armExpiry();
        break;
    }
    if (this.onRetired !== undefined) this.checkRetired();
  }

  /**
   * Takes the replica out of use with nothing lost: what the container works on is answered, then the channel is closed
   * and `done` called.
   * @returns what waited, most urgent first. What nobody else can take may be given back with `enqueue` in the same call
   * chain, and is served before the end.
   */
  retire(done: () => void): Evaluation[] {
    if (this.down || this.onRetired !== undefined) {
      throw new Error(`replica '${this.hello.replica}' is out of use already`);
    }
    this.onRetired = done;
    // An event of its own: what is given back now has come by then.
    this.clock.schedule(this.port, this.clock.nowNs(), 'retire');
    return this.takeWaiting();
  }

  /** Takes the replica out of use; what it had is handed to `onLost`. */
  lose(reason: string): void {
    if (this.down) return;
    this.down = true;
    this.clock.detach(this.port);
    this.channel.close();
    const stranded: Evaluation[] = [];
    for (const batch of this.inFlight.values()) {
      for (const evaluation of batch.items) {
        if (evaluation.state !== 'sent') continue;
        evaluation.losses += 1;
        stranded.push(evaluation);
      }
    }
    this.inFlight.clear();
    this.inFlightItems = 0;
    for (const evaluation of this.takeWaiting()) stranded.push(evaluation);
    this.observer.onReplicaDown(this.hello.model, this.hello.version, this.hello.replica, reason);
    this.onLost(this, stranded, reason);
    this.onRetired?.();
  }

  private takeWaiting(): Evaluation[] {
    return this.waiting.clear().sort((a, b) => a.deadlineNs - b.deadlineNs || a.order - b.order);
  }

  /** Ends a replica that was taken out of use, once it has nothing left. */
  private checkRetired(): void {
    if (this.down || this.backlog > 0) return;
    this.down = true;
    this.clock.detach(this.port);
    this.channel.close();
    this.onRetired?.();
  }

  status(): ReplicaStatus {
    return {
      model: this.hello.model,
      version: this.hello.version,
      replica: this.hello.replica,
      strategy: this.controller.strategy,
      maxBatchSize: this.controller.limit(),
      queued: this.waiting.size,
      inFlightItems: this.inFlightItems,
      inFlightBatches: this.inFlight.size,
      itemNs: this.itemNs,
      batches: this.batches,
      items: this.items,
      busyNs: this.pastBusyNs + (this.inFlight.size === 0 ? 0 : this.clock.nowNs() - this.busySinceNs),
      fullItemNs: this.estimate.known ? this.estimate.batchNs(this.limit) / this.limit : undefined,
    };
  }

  private scheduleDispatch(nowNs: number): void {
    if (this.dispatchScheduled || this.dispatching) return;
    this.dispatchScheduled = true;
    this.clock.schedule(this.port, nowNs, 'dispatch');
  }

  private dispatch(nowNs: number): void {
    // A container in process may answer inside `send`: the loop below then goes on, and not a second one inside it.
    if (this.dispatching) return;
    this.dispatching = true;
    try {
      while (this.credits > 0 && this.waiting.size > 0 && !this.down) {
        if (this.hold(nowNs)) break;
        this.sendBatch(nowNs);
      }
    } finally {
      this.dispatching = false;
    }
    if (!this.down) this.armExpiry();
  }

  private get limit(): number {
    return Math.min(this.controller.limit(), this.hello.maxBatchSize);
  }

  /** What the container still needs for what it has. */
  private busyNs(nowNs: number): number {
    const { fixedNs, itemNs } = this.estimate;
    for (const { sentNs } of this.inFlight.values()) {
      const sinceNs = Math.max(sentNs, this.lastResultNs);
      return Math.max(0, this.inFlight.size * fixedNs + this.inFlightItems * itemNs - (nowNs - sinceNs));
    }
    return 0;
  }

  /** Expected time until an evaluation with so many before it is answered. */
  private answerNs(before: number, nowNs: number): number {
    let totalNs = this.busyNs(nowNs);
    let left = before + 1;
    for (let batch = 0; left > 0; batch++) {
      const size = Math.min(left, this.controller.limitAfter(batch), this.hello.maxBatchSize);
      totalNs += this.estimate.batchNs(size);
      left -= size;
    }
    return totalNs;
  }

  /** Whether what waits should wait for more company; then a timer is set. */
  private hold(nowNs: number): boolean {
    if (this.holdNs !== Infinity) this.clock.cancel(this.holdTimer);
    this.holdNs = Infinity;
    if (this.waiting.size >= this.limit) return false;
    const untilNs = this.holdUntilNs(nowNs);
    if (untilNs <= nowNs) return false;
    this.holdNs = untilNs;
    this.holdTimer = this.clock.schedule(this.port, untilNs, 'held');
    return true;
  }

  private holdUntilNs(nowNs: number): number {
    if (this.inFlight.size === 0 || !this.estimate.known) return nowNs;
    const oneNs = this.estimate.batchNs(this.inFlightItems / this.inFlight.size);
    const aheadNs = this.busyNs(nowNs) - LEAD_SHARE * oneNs;
    // The last part of a nanosecond is rounding.
    return oneNs < SHORTEST_HOLD_NS || aheadNs < 1 ? nowNs : nowNs + aheadNs;
  }

  /**
   * Sends the most urgent evaluations that can still be in time. One that has less time left than a batch takes lately
   * would only make the others late too: under overload, earliest deadline first alone serves nothing but such ones. An
   * idle replica gets them all the same, so that a wrong expectation is put right by the next answer.
   */
  private sendBatch(nowNs: number): void {
    const { limit } = this;
    const reachNs = nowNs + this.roundTrips.expectedNs;
    const evaluations: Evaluation[] = [];
    let hopeless: Evaluation[] | undefined;
    while (evaluations.length < limit) {
      const evaluation = this.waiting.pop();
      if (evaluation === undefined) break;
      if (evaluation.expiresNs > reachNs) evaluations.push(evaluation);
      else (hopeless ??= []).push(evaluation);
    }
    if (hopeless !== undefined && evaluations.length === 0 && this.inFlight.size === 0) {
      // From the end: those with the most time left.
      while (evaluations.length < limit) {
        const last = hopeless.at(-1);
        if (last === undefined || last.expiresNs <= nowNs) break;
        evaluations.push(last);
        hopeless.pop();
      }
    }
    if (evaluations.length > 0) this.sendItems(evaluations, limit, nowNs);
    // Only now: whoever hears of it may send more, or cancel what is about to be sent.
    if (hopeless === undefined) return;
    for (const evaluation of hopeless) fail(evaluation, evaluation.expiresNs > nowNs ? HOPELESS : EXPIRED);
  }

  private sendItems(evaluations: Evaluation[], limit: number, nowNs: number): void {
    const id = this.nextBatchId++;
    const items: BatchItem[] = [];
    let longestQueueNs = 0;
    let totalQueueNs = 0;
    let traceparent: string | undefined;
    for (const evaluation of evaluations) {
      evaluation.state = 'sent';
      evaluation.batchId = id;
      evaluation.itemId = items.length;
      items.push({
        id: evaluation.itemId,
        bytes: evaluation.input,
        budgetNs: evaluation.expiresNs - nowNs,
      });
      const queueNs = nowNs - evaluation.enqueuedNs;
      totalQueueNs += queueNs;
      if (queueNs > longestQueueNs) longestQueueNs = queueNs;
      traceparent ??= evaluation.traceparent;
    }
    this.credits -= 1;
    if (this.inFlight.size === 0) this.busySinceNs = nowNs;
    this.inFlightItems += evaluations.length;
    this.inFlight.set(id, { id, items: evaluations, limit, sentNs: nowNs, longestQueueNs, totalQueueNs });
    this.send(
      traceparent === undefined
        ? { kind: 'predict', batchId: id, items }
        : { kind: 'predict', batchId: id, items, traceparent },
    );
  }

  /** A channel that throws is as good as lost: what it had goes elsewhere. */
  private send(frame: FrontendFrame): void {
    try {
      this.channel.send(frame);
    } catch (error) {
      this.lose(`sending failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  private onResult(frame: ResultFrame): void {
    const batch = this.inFlight.get(frame.batchId);
    if (batch === undefined) {
      this.complain(`answered batch ${frame.batchId}, which is not in flight`);
      return;
    }
    const nowNs = this.clock.nowNs();
    const roundTripNs = nowNs - batch.sentNs;
    let serviceNs = frame.serviceNs;
    if (!(serviceNs >= 0 && serviceNs < Infinity)) {
      this.complain(
        `gave ${serviceNs} as service time of batch ${batch.id}: the round trip is taken instead`,
      );
      serviceNs = roundTripNs;
    }
    const size = batch.items.length;
    this.inFlight.delete(batch.id);
    if (this.inFlight.size === 0) this.pastBusyNs += nowNs - this.busySinceNs;
    this.inFlightItems -= size;
    this.credits += 1;
    this.batches += 1;
    this.items += size;
    this.controller.observe({ size, limit: batch.limit, serviceNs });
    const perItemNs = serviceNs / size;
    this.itemNs =
      this.itemNs === undefined ? perItemNs : this.itemNs + NEWEST_WEIGHT * (perItemNs - this.itemNs);
    this.roundTrips.record(roundTripNs);
    // A container serves one batch after the other: this one began when the one before it was done.
    this.estimate.record(size, nowNs - Math.max(batch.sentNs, this.lastResultNs));
    this.lastResultNs = nowNs;
    // The replica first: it computes while the answers go out.
    if (this.waiting.size > 0) this.dispatch(nowNs);
    const { failed, failure } = this.deliver(batch, frame.results);
    this.observer.onBatch({
      model: this.hello.model,
      version: this.hello.version,
      replica: this.hello.replica,
      size,
      limit: batch.limit,
      newLimit: this.controller.limit(),
      longestQueueNs: batch.longestQueueNs,
      totalQueueNs: batch.totalQueueNs,
      serviceNs,
      roundTripNs,
      failed,
      failure,
    });
    if (this.onRetired !== undefined) this.checkRetired();
  }

  /** Matches results with items by id. */
  private deliver(
    batch: Batch,
    results: readonly ItemResult[],
  ): { failed: number; failure: string | undefined } {
    const { items } = batch;
    let failed = 0;
    let failure: string | undefined;
    let matched = 0;
    // Items leave the batch's array as they are answered, so a second result for one finds nothing.
    const open: (Evaluation | undefined)[] = items;
    for (const result of results) {
      const evaluation = open[result.id];
      if (evaluation === undefined) {
        this.complain(`answered item ${result.id} of batch ${batch.id}, which is not open`);
        continue;
      }
      open[result.id] = undefined;
      matched += 1;
      if (evaluation.state === 'done') continue;
      evaluation.state = 'done';
      if (result.ok && typeof result.output === 'string') {
        evaluation.onPrediction(result);
      } else {
        failed += 1;
        const reason = failureOf(result);
        failure ??= reason.message;
        evaluation.onFailure(reason);
      }
    }
    if (matched === open.length) return { failed, failure };
    const message = `container '${this.hello.replica}' answered ${matched} of ${open.length} items of its batch`;
    this.complain(`answered ${matched} of ${open.length} items of batch ${batch.id}`);
    for (const evaluation of open) {
      if (evaluation === undefined || evaluation.state === 'done') continue;
      failed += 1;
      failure ??= message;
      fail(evaluation, { reason: 'model_error', message });
    }
    return { failed, failure };
  }

  private expire(nowNs: number): void {
    for (;;) {
      const first = this.waiting.first();
      if (first === undefined || first.expiresNs > nowNs) return;
      this.waiting.remove(first);
      fail(first, EXPIRED);
    }
  }

  private armExpiry(): void {
    const first = this.waiting.first();
    if (first === undefined || this.timerNs <= first.expiresNs) return;
    if (this.timerNs !== Infinity) this.clock.cancel(this.timer);
    this.timerNs = first.expiresNs;
    this.timer = this.clock.schedule(this.port, first.expiresNs, 'expire');
  }

  private complain(message: string): void {
    this.observer.onProtocolError(this.hello.model, this.hello.version, this.hello.replica, message);
  }
}

function fail(evaluation: Evaluation, failure: PredictionFailure): void {
  if (evaluation.state === 'done') return;
  evaluation.state = 'done';
  evaluation.onFailure(failure);
}

function failureOf(result: ItemResult): PredictionFailure {
  if (result.ok) return { reason: 'model_error', message: 'the container gave an output that is no string' };
  if (result.code === 'cancelled') return { reason: 'expired', message: result.message };
  return { reason: 'model_error', message: `${result.code}: ${result.message}` };
}
