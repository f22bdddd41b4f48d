import type { ContainerFrame, FrameSink, HelloFrame, LaunchClass } from '../../containers/protocol/index.js';
import type { Clock, EventSink } from '../../simulator/time/index.js';
import { BatchAnswers, type AnswerHost } from './batchAnswers.js';
import { BatchHold } from './batchHold.js';
import type { ReplicaStatus } from './batchRecord.js';
import { BatchSender } from './batchSender.js';
import type { BatchSizeController } from './batchSize.js';
import { Departures } from './departures.js';
import type { Evaluation, EvaluationHolder } from './evaluation.js';
import { HangWatchdog } from './hangWatchdog.js';
import { InFlight } from './inFlight.js';
import type { ReplicaQueueOptions } from './queueOptions.js';
import { ReplicaReports } from './replicaReports.js';
import { Served } from './served.js';
import { SuspectLanes } from './suspectLanes.js';
import { WaitForecast } from './waitForecast.js';
import { WaitingEvaluations } from './waitingEvaluations.js';

/**
 * The adaptive batching queue of one replica (Clipper 4.3): earliest deadline first, as many batches in flight as the
 * container gave credits, each as large as the queue and the controller allow and never padded. One timer on the clock
 * serves all who wait. Suspects of spoiling batches travel apart. A batch is of one class of launches.
 *
 * It takes the replica into use and out of it; who waits, who travels when, what is under way and what an answer means are
 * its parts' to know.
 */
export class ReplicaQueue implements EventSink, FrameSink<ContainerFrame>, EvaluationHolder, AnswerHost {
  readonly hello: HelloFrame;
  readonly controller: BatchSizeController;
  readonly forecast: WaitForecast;
  /** Among its siblings; -1 where it is not of those that serve everybody. Set by `ReplicaChoice`. */
  place = -1;
  private readonly clock: Clock;
  private readonly port: string;
  private readonly onLoad: ReplicaQueueOptions['onLoad'];
  private readonly onLost: ReplicaQueueOptions['onLost'];
  private readonly served = new Served();
  private readonly reports: ReplicaReports;
  private readonly waiting: WaitingEvaluations;
  private readonly inFlight: InFlight;
  private readonly sender: BatchSender;
  private readonly departures: Departures;
  private readonly answers: BatchAnswers;
  /** Set once it takes nothing new: told when the last of what it has is answered. */
  private onRetired: (() => void) | undefined;

  constructor(options: ReplicaQueueOptions) {
    const { clock, port, hello, controller, suspects, launchClass } = options;
    this.hello = hello;
    this.controller = controller;
    this.clock = clock;
    this.port = port;
    this.onLoad = options.onLoad;
    this.onLost = options.onLost;
    const { served } = this;
    const inFlight = (this.inFlight = new InFlight(options.elsewhere));
    const reports = (this.reports = new ReplicaReports(options.observer, hello));
    const lanes = new SuspectLanes(suspects, hello.maxBatchSize, options.sendApart);
    const waiting = (this.waiting = new WaitingEvaluations(clock, port, lanes, options.maxQueued));
    const forecast = (this.forecast = new WaitForecast(waiting, inFlight, served, controller));
    const holding = new BatchHold(clock, port, waiting.others, inFlight, forecast, options.delayNs);
    clock.attach(port, this);
    const lose = (reason: string): void => this.lose(reason);
    const { hang, patience } = options;
    const { channel } = options;
    const onHung = (reason: string): void => this.lose(reason, channel.isUnheard?.());
    const watchdog = hang && new HangWatchdog(clock, `${port}/watchdog`, inFlight, hang, patience, onHung);
    const sender = new BatchSender(channel, hello.credits, launchClass, inFlight, reports, watchdog, lose);
    this.sender = sender;
    this.departures = new Departures(clock, port, controller, waiting, holding, sender, launchClass);
    const { replica } = hello;
    const parts = { clock, replica, sender, controller, served, suspects, lanes, reports };
    this.answers = new BatchAnswers(parts, this);
  }

  get full(): boolean {
    return this.waiting.isFull;
  }

  /** Whether no more inputs of this source, which is a bad one, may wait. */
  isFullFor(source: object): boolean {
    return this.waiting.isFullFor(source);
  }

  /** Items that the replica has before it. */
  get backlog(): number {
    return this.waiting.size + this.inFlight.items;
  }

  /**
   * Takes an evaluation in. Batches form at the end of the present instant, so that what arrives together travels
   * together. The caller checks `full` first.
   */
  enqueue(evaluation: Evaluation, nowNs: number): void {
    evaluation.state = 'queued';
    evaluation.queue = this;
    this.waiting.push(evaluation);
    this.onLoad(this);
    this.departures.onQueued(evaluation, nowNs);
  }

  setHighestClass(launchClass: LaunchClass): void {
    this.departures.setHighestClass(launchClass);
  }

  extend(
    evaluation: Evaluation,
    deadlineNs: number,
    expiresNs: number,
    priority: number,
    launchClass: LaunchClass,
  ): void {
    this.waiting.others.extend(evaluation, deadlineNs, expiresNs, priority, launchClass);
  }

  /** Nobody waits for it any more: it leaves the queue, or the container is told that it may skip it. */
  cancel(evaluation: Evaluation): void {
    if (evaluation.state === 'queued') this.waiting.others.remove(evaluation);
    else if (evaluation.state === 'sent') this.sender.cancel(evaluation);
    evaluation.state = 'done';
    this.onLoad(this);
  }

  onFrame(frame: ContainerFrame): void {
    if (this.sender.isClosed) return;
    switch (frame.kind) {
      case 'result':
        // Whoever hears of an answer may ask for more at once, and what that does to the load is seen behind it.
        this.onLoad(this);
        this.answers.onResult(frame, this.worldNs());
        this.onLoad(this);
        if (this.onRetired !== undefined) this.checkRetired();
        return;
      case 'credit':
        if (Number.isSafeInteger(frame.credits) && frame.credits > 0) this.sender.credits += frame.credits;
        else this.reports.complain(`granted ${frame.credits} credits: a whole number above 0 is expected`);
        this.departures.schedule(this.clock.nowNs());
        return;
      case 'down':
        this.lose(frame.reason, frame.isOutside);
        return;
      case 'printed':
        return;
      case 'hello':
        this.reports.complain('sent a second hello');
        return;
    }
  }

  onEvent(kind: string): void {
    const nowNs = this.worldNs();
    this.onLoad(this);
    if (kind === 'expire') this.waiting.onExpire(nowNs);
    else if (kind === 'dispatch' || kind === 'held') this.departures.onDue(kind, nowNs);
    this.onLoad(this);
    if (this.onRetired !== undefined) this.checkRetired();
  }

  dispatchMore(nowNs: number): boolean {
    if (this.waiting.size > 0) this.departures.dispatch(nowNs);
    return !this.sender.isClosed;
  }

  askAgain(evaluation: Evaluation, nowNs: number): void {
    if (!this.sender.isClosed) this.enqueue(evaluation, nowNs);
    // Lost since the answer came, by what was sent after it.
    else this.onLost(this, { ...LOST_BEFORE, queued: [evaluation] });
  }

  /**
   * Takes the replica out of use with nothing lost: what the container works on is answered, then the channel is closed
   * and `done` called.
   * @returns what waited, most urgent first. What nobody else can take may be given back with `enqueue` in the same call
   * chain, and is served before the end.
   */
  retire(done: () => void): Evaluation[] {
    if (this.sender.isClosed || this.onRetired !== undefined) {
      throw new Error(`replica '${this.hello.replica}' is out of use already`);
    }
    this.onRetired = done;
    // An event of its own: what is given back now has come by then.
    this.clock.schedule(this.port, this.clock.nowNs(), 'retire');
    return this.waiting.clear();
  }

  /** Takes the replica out of use; what it had is handed to `onLost`. */
  lose(reason: string, isIntended = false): void {
    if (this.sender.isClosed) return;
    this.leave(reason);
    const inFlight = this.inFlight.clear();
    for (const { trace } of inFlight) trace?.onLost(reason);
    const isFresh = this.served.batches === 0;
    const loss = { reason, inFlight, queued: this.waiting.clear(), isFresh, isIntended };
    this.reports.onDown(reason);
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
      queued: this.waiting.size,
      inFlightItems: this.inFlight.items,
      inFlightBatches: this.inFlight.size,
      credits: this.sender.credits,
      itemNs: this.served.itemNs,
      batches: this.served.batches,
      items: this.served.items,
      busyNs: this.inFlight.totalBusyNs(this.clock.nowNs()),
      fullItemNs: this.forecast.fullItemNs,
    };
  }

  /** An event that runs late is at its own time; what was queued since then, and the container, are at the world's. */
  private worldNs(): number {
    return this.clock.nowNs() + this.clock.behindNs();
  }

  /** Ends a replica that was taken out of use, once it has nothing left. */
  private checkRetired(): void {
    if (this.sender.isClosed || this.backlog > 0) return;
    this.leave('it was taken out of use');
    this.onRetired?.();
  }

  private leave(reason: string): void {
    this.clock.detach(this.port);
    this.sender.close(reason);
  }
}

/** Of a replica whose loss has been told, and which nobody is accused of again. */
const LOST_BEFORE = { reason: 'it was lost', inFlight: [], isFresh: false, isIntended: true };
