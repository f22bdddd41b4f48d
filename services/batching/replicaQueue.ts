import type {
  ContainerChannel,
  ContainerFrame,
  FrameSink,
  FrontendFrame,
  HelloFrame,
  ResultFrame,
  LaunchClass,
} from '../../containers/protocol/index.js';
import type { Clock, EventSink } from '../../simulator/time/index.js';
import type { BatchingObserver, ReplicaStatus } from './batchRecord.js';
import {
  deliverResults,
  misnumbered,
  type ResultListener,
  isTypicalAnswer,
  serviceTimes,
  sharedFailure,
} from './batchResults.js';
import { depart } from './batchDeparture.js';
import { BatchHold } from './batchHold.js';
import type { BatchSizeController } from './batchSize.js';
import { ClassQueue, isAbove } from './classQueue.js';
import type { Evaluation, EvaluationHolder } from './evaluation.js';
import { ExpiryTimer, failLate } from './expiryTimer.js';
import { HangWatchdog } from './hangWatchdog.js';
import { InFlight } from './inFlight.js';
import { takeBatch } from './nextBatch.js';
import type { ReplicaQueueOptions } from './queueOptions.js';
import { Served } from './served.js';
import type { SuspectInputs } from './suspectInputs.js';
import { SuspectLanes, type Lane } from './suspectLanes.js';
import { WaitForecast } from './waitForecast.js';

/**
 * The adaptive batching queue of one replica (Clipper 4.3): earliest deadline first, as many batches in flight as the
 * container gave credits, each as large as the queue and the controller allow and never padded. One timer on the clock
 * serves all who wait. Suspects of spoiling batches travel apart. A batch is of one class of launches.
 */
export class ReplicaQueue implements EventSink, FrameSink<ContainerFrame>, ResultListener, EvaluationHolder {
  readonly hello: HelloFrame;
  readonly controller: BatchSizeController;
  private readonly clock: Clock;
  private readonly port: string;
  private readonly channel: ContainerChannel;
  private readonly maxQueued: number;
  private readonly suspects: SuspectInputs;
  private readonly observer: BatchingObserver;
  private readonly onLost: ReplicaQueueOptions['onLost'];
  private readonly waiting = new ClassQueue();
  private readonly lanes: SuspectLanes;
  private readonly inFlight: InFlight;
  private readonly forecast: WaitForecast;
  private readonly holding: BatchHold;
  private readonly expiry: ExpiryTimer;
  private readonly watchdog: HangWatchdog | undefined;
  private readonly launchClass: LaunchClass;
  private credits: number;
  /** The highest class that may come; one batch in flight is kept for it. */
  private highestClass: LaunchClass;
  private nextBatchId = 1;
  private readonly served = new Served();
  private dispatchScheduled = false;
  private dispatching = false;
  /** When suspects are looked at again who may not be sent yet. */
  private wakesNs = -Infinity;
  private down = false;
  /** Set once it takes nothing new: told when the last of what it has is answered. */
  private onRetired: (() => void) | undefined;

  constructor(options: ReplicaQueueOptions) {
    this.hello = options.hello;
    this.controller = options.controller;
    this.clock = options.clock;
    this.port = options.port;
    this.channel = options.channel;
    this.maxQueued = options.maxQueued;
    this.suspects = options.suspects;
    this.lanes = new SuspectLanes(options.suspects, options.sendApart);
    this.observer = options.observer;
    this.onLost = options.onLost;
    this.launchClass = options.launchClass;
    this.highestClass = options.launchClass;
    this.credits = options.hello.credits;
    this.inFlight = new InFlight(options.elsewhere);
    this.forecast = new WaitForecast(this.inFlight, this.controller, this.hello.maxBatchSize);
    const { clock, port, waiting, inFlight, forecast } = this;
    this.holding = new BatchHold(clock, port, waiting, inFlight, forecast, options.delayNs);
    this.expiry = new ExpiryTimer(clock, port, waiting);
    clock.attach(port, this);
    const { hang, patience } = options;
    if (hang !== undefined) {
      const lose = (reason: string): void => this.lose(reason);
      this.watchdog = new HangWatchdog(clock, `${port}/watchdog`, inFlight, hang, patience, lose);
    }
  }

  get full(): boolean {
    return this.queued >= this.maxQueued;
  }

  /** Items that the replica has before it. */
  get backlog(): number {
    return this.queued + this.inFlight.items;
  }

  /**
   * Whether what it works on takes much longer than of late: others are asked first.
   * @param elsewhereNs what a batch takes its siblings, for a replica that has hardly answered anything.
   */
  isOverdue(nowNs: number, elsewhereNs: number): boolean {
    return this.inFlight.isOverdue(nowNs, elsewhereNs);
  }

  /** What a batch may be expected to take from sending to its answer; 0 before enough answers. */
  get expectedNs(): number {
    return this.inFlight.roundTrips.expectedNs;
  }

  /** Mean service time an item, of late; undefined before the first answer. */
  get meanItemNs(): number | undefined {
    return this.served.itemNs;
  }

  /**
   * By how much an evaluation would miss its expiry behind what the replica has before it; not above 0 when it can be in
   * time. Hopeful wherever nothing is known: an idle replica takes everything, batches are expected to grow, and one that
   * is slower than ever is expected to be done any moment.
   */
  lateByNs(evaluation: Evaluation, nowNs: number): number {
    const { queued } = this;
    if (!this.forecast.known || (this.inFlight.size === 0 && queued === 0)) return 0;
    const budgetNs = evaluation.expiresNs - nowNs;
    const lateNs = this.forecast.answerNs(queued, nowNs) - budgetNs;
    if (lateNs <= 0) return lateNs;
    const before = this.lanes.countBefore(evaluation, this.waiting);
    return before >= queued ? lateNs : this.forecast.answerNs(before, nowNs) - budgetNs;
  }

  /**
   * Takes an evaluation in. Batches form at the end of the present instant, so that what arrives together travels
   * together. The caller checks `full` first.
   */
  enqueue(evaluation: Evaluation, nowNs: number): void {
    evaluation.state = 'queued';
    evaluation.queue = this;
    if (evaluation.mostTogether !== Infinity) {
      this.lanes.push(evaluation);
      if (this.credits > 0) this.scheduleDispatch(nowNs);
      return;
    }
    this.waiting.push(evaluation);
    const isHeld = this.holding.onQueued(this.limit, nowNs);
    if (this.credits > 0 && !isHeld) this.scheduleDispatch(nowNs);
    else this.expiry.arm();
  }

  setHighestClass(launchClass: LaunchClass): void {
    this.highestClass = launchClass;
    if (this.queued > 0) this.scheduleDispatch(this.clock.nowNs());
  }

  extend(
    evaluation: Evaluation,
    deadlineNs: number,
    expiresNs: number,
    priority: number,
    launchClass: LaunchClass,
  ): void {
    if (expiresNs > evaluation.expiresNs) evaluation.expiresNs = expiresNs;
    this.waiting.expedite(evaluation, deadlineNs, priority, launchClass);
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
        if (this.queued > 0) this.scheduleDispatch(this.clock.nowNs());
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

  onEvent(kind: string): void {
    const nowNs = this.worldNs();
    switch (kind) {
      case 'held':
        this.holding.onHeld();
        this.dispatch(nowNs);
        break;
      case 'dispatch':
        this.dispatchScheduled = false;
        this.dispatch(nowNs);
        break;
      case 'expire':
        this.expiry.onExpire(nowNs);
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
  lose(reason: string, isIntended = false): void {
    if (this.down) return;
    this.leave(reason);
    const inFlight = this.inFlight.clear();
    for (const { trace } of inFlight) trace?.onLost(reason);
    const isFresh = this.served.batches === 0;
    const loss = { reason, inFlight, queued: this.takeWaiting(), isFresh, isIntended };
    this.observer.onReplicaDown(this.hello.model, this.hello.version, this.hello.replica, reason);
    this.onLost(this, loss);
    this.onRetired?.();
  }

  status(): ReplicaStatus {
    return {
      model: this.hello.model,
      version: this.hello.version,
      replica: this.hello.replica,
      strategy: this.controller.strategy,
      maxBatchSize: this.controller.limit(),
      queued: this.queued,
      inFlightItems: this.inFlight.items,
      inFlightBatches: this.inFlight.size,
      credits: this.credits,
      itemNs: this.served.itemNs,
      batches: this.served.batches,
      items: this.served.items,
      busyNs: this.inFlight.totalBusyNs(this.clock.nowNs()),
      fullItemNs: this.forecast.known ? this.inFlight.estimate.batchNs(this.limit) / this.limit : undefined,
    };
  }

  complain(message: string): void {
    this.observer.onProtocolError(this.hello.model, this.hello.version, this.hello.replica, message);
  }

  onOwnAnswer(evaluation: Evaluation, isOk: boolean): void {
    this.suspects.onOwnAnswer(evaluation, isOk, this.clock.nowNs());
  }

  /** Whether no more inputs of this source, which is a bad one, may wait. */
  isFullFor(source: object): boolean {
    return this.lanes.isFullFor(source, this.maxQueued);
  }

  /** An event that runs late is at its own time; what was queued since then, and the container, are at the world's. */
  private worldNs(): number {
    return this.clock.nowNs() + this.clock.behindNs();
  }

  private get queued(): number {
    return this.waiting.size + this.lanes.size;
  }

  private get limit(): number {
    return Math.min(this.controller.limit(), this.hello.maxBatchSize);
  }

  private takeWaiting(): Evaluation[] {
    return [...this.lanes.clear(), ...this.waiting.clear()];
  }

  /** Ends a replica that was taken out of use, once it has nothing left. */
  private checkRetired(): void {
    if (this.down || this.backlog > 0) return;
    this.leave('it was taken out of use');
    this.onRetired?.();
  }

  private leave(reason: string): void {
    this.down = true;
    this.clock.detach(this.port);
    this.watchdog?.close();
    this.channel.close(reason);
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
      while (this.credits > 0 && !this.down && !this.inFlight.isAlone) {
        const turn = this.lanes.turn(this.waiting.size > 0, this.inFlight.size > 0, nowNs);
        if (turn === 'nobody') break;
        if (turn !== 'others') this.sendSuspects(turn, nowNs);
        else if (!this.hasCredit()) break;
        // What bad sources have under way tells nothing of how long others may wait for company.
        else if (!this.lanes.isLimitedInFlight && this.holding.hold(this.limit, nowNs)) break;
        else this.sendBatch(nowNs);
      }
    } finally {
      this.dispatching = false;
    }
    if (this.down) return;
    this.expiry.arm();
    const dueNs = this.lanes.dueNs(nowNs);
    if (dueNs === Infinity || this.wakesNs > nowNs) return;
    this.wakesNs = dueNs;
    this.clock.schedule(this.port, dueNs, 'dispatch');
  }

  /** For those whose turn it is: a lower class leaves the last one to the highest that may come, where there are several. */
  private hasCredit(): boolean {
    if (this.waiting.size === 0) return false;
    const isLast = this.credits === 1 && this.inFlight.size > 0;
    return !isLast || !isAbove(this.highestClass, this.waiting.nextClass);
  }

  /** Sends the next suspects that may travel together. */
  private sendSuspects(lane: Lane, nowNs: number): void {
    const group = this.lanes.take(lane, this.limit, this.hello.maxBatchSize, nowNs);
    // As in other batches: one that is late anyway would only make the next one late, and an idle replica is asked.
    const reachNs = nowNs + (this.inFlight.size === 0 ? 0 : this.inFlight.estimate.batchNs(2 * group.length));
    const evaluations = group.filter(({ expiresNs }) => expiresNs > reachNs);
    if (evaluations.length > 0) {
      if (lane === 'limited') this.lanes.onLimitedSent();
      this.sendItems(evaluations, this.limit, nowNs, lane);
    }
    for (const evaluation of group) if (evaluation.expiresNs <= reachNs) failLate(evaluation, nowNs);
  }

  /** Sends the most urgent evaluations that can still be in time, of the class whose turn it is. */
  private sendBatch(nowNs: number): void {
    const { limit } = this;
    this.lanes.onOthersSent();
    const isIdle = this.inFlight.size === 0;
    const { next } = this.waiting;
    const { evaluations, hopeless } = takeBatch(
      next,
      limit,
      nowNs,
      this.expectedNs,
      isIdle,
      this.lanes.divert,
    );
    this.holding.onSent();
    if (evaluations.length > 0) this.sendItems(evaluations, limit, nowNs);
    // Only now: whoever hears of it may send more, or cancel what is about to be sent.
    if (hopeless !== undefined) for (const evaluation of hopeless) failLate(evaluation, nowNs);
  }

  private sendItems(evaluations: Evaluation[], limit: number, nowNs: number, lane?: Lane): void {
    const isAlone = lane !== undefined && evaluations[0].isDangerous;
    const isLimited = lane === 'limited';
    const id = this.nextBatchId++;
    const { items, traceparent: firstTraceparent, ...waits } = depart(id, evaluations, nowNs);
    const { model, version, replica } = this.hello;
    const trace = this.observer.onBatchSent(model, version, replica, evaluations);
    const traceparent = trace === undefined ? firstTraceparent : trace.traceparent;
    if (trace !== undefined) for (const evaluation of evaluations) evaluation.batchTrace = trace;
    this.credits -= 1;
    // Evaluations join others while they wait: only now the class stands.
    const [{ launchClass }] = evaluations;
    this.inFlight.add({
      id,
      items: evaluations,
      launchClass,
      limit,
      sentNs: nowNs,
      ...waits,
      isAlone,
      isLimited,
      trace,
      traceparent,
    });
    this.watchdog?.onSent(nowNs);
    this.send({
      kind: 'predict',
      batchId: id,
      items,
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(launchClass === this.launchClass ? {} : { launchClass }),
      ...(lane === undefined ? {} : { isSuspect: true }),
    });
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
    const size = batch.items.length;
    const confusion = misnumbered(frame.results, size);
    if (confusion !== undefined) {
      const message = `answered batch ${batch.id} of ${size} items with ${confusion}`;
      this.complain(message);
      this.lose(message);
      return;
    }
    const nowNs = this.worldNs();
    const { ownNs, ...times } = serviceTimes(frame, nowNs - batch.sentNs, this);
    const { calls } = frame;
    this.suspects.arePartedInside ||= calls !== undefined && calls > 0;
    const shared = calls === undefined ? sharedFailure(frame.results, size) : undefined;
    const isTypical = isTypicalAnswer(frame, shared);
    this.inFlight.remove(batch, nowNs, isTypical);
    this.credits += 1;
    this.served.count(size);
    this.lanes.onServed(batch.isLimited, ownNs);
    if (isTypical) {
      this.controller.observe({ size, limit: batch.limit, serviceNs: ownNs });
      this.served.learn(size, ownNs);
    }
    const wasAccused = size === 1 && batch.items[0].losses > 0;
    // The replica first: it computes while the answers go out. Only what follows from this answer comes after it.
    if (this.queued > 0 && !wasAccused) this.dispatch(nowNs);
    let failed = size;
    let failure = shared;
    if (shared === undefined || this.down) {
      const { replica } = this.hello;
      const delivery = deliverResults(batch, frame.results, replica, calls, this);
      ({ failed, failure } = delivery);
      this.lanes.onDelivered(batch, delivery, wasAccused || (calls !== undefined && calls > 1));
      const { undecided, answered } = delivery;
      if (undecided.length > 0) this.retry(undecided, failed + answered > 0, failure ?? '', nowNs);
      if (wasAccused && this.queued > 0) this.dispatch(nowNs);
    } else {
      this.retry(batch.items, false, shared, nowNs);
    }
    const { model, version, replica } = this.hello;
    this.observer.onBatch({
      model,
      version,
      replica,
      size,
      limit: batch.limit,
      newLimit: this.controller.limit(),
      longestQueueNs: batch.longestQueueNs,
      totalQueueNs: batch.totalQueueNs,
      ...times,
      failed,
      failure,
      trace: batch.trace,
      traceparent: batch.traceparent,
    });
    if (this.onRetired !== undefined) this.checkRetired();
  }

  private retry(items: readonly Evaluation[], areSome: boolean, message: string, nowNs: number): void {
    for (const evaluation of this.lanes.accuse(items, areSome, message, nowNs))
      this.enqueue(evaluation, nowNs);
  }
}
