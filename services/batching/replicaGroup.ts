import {
  inputProblem,
  isSpokenVersion,
  OLDEST_PROTOCOL_VERSION,
  PROTOCOL_VERSION,
  type ContainerChannel,
  type HelloFrame,
  type InputForm,
  type LaunchClass,
} from '../../containers/protocol/index.js';
import type { Clock } from '../../simulator/time/index.js';
import type { PredictionFailure } from '../cache/index.js';
import type { BatchingChoice, ModelRecord } from '../registry/index.js';
import type { BatchingObserver, ReplicaStatus } from './batchRecord.js';
import { DEFAULT_CLASS } from './classQueue.js';
import { controllerFor } from './controllerFor.js';
import { failEvaluation, type Evaluation } from './evaluation.js';
import { HangPatience } from './hangPatience.js';
import type { HangLimits } from './hangWatchdog.js';
import { Probation } from './probation.js';
import type { ReplicaLoss } from './queueOptions.js';
import { ReplicaChoice } from './replicaChoice.js';
import { ReplicaQueue } from './replicaQueue.js';
import { RetiringReplicas } from './retiringReplicas.js';
import { ServicePast } from './servicePast.js';
import { StrandedEvaluations } from './strandedEvaluations.js';
import { SuspectInputs } from './suspectInputs.js';

export interface BatchingOptions {
  readonly clock: Clock;
  readonly observer: BatchingObserver;
  /** Evaluations that may wait for one replica; more are refused. */
  readonly maxQueued: number;
  /**
   * Share of the shortest latency objective that a batch's service may take. The rest is for waiting while the batch
   * before is served: at one half, an item that just missed a batch still makes it with the next one.
   */
  readonly serviceShare: number;
  /** When a replica's silence means that it is lost; undefined: never. */
  readonly hang: HangLimits | undefined;
  /**
   * Starts a replica of a model version apart from the others, for inputs that may take down whoever is asked them, or ends it.
   * @returns whether one comes.
   */
  readonly requestApart: (name: string, version: string, isWanted: boolean) => boolean;
}

/** No lost replica is back sooner: with less time left, nobody waits for the next one. */
const SOONEST_RESTART_NS = 200e6;
export const BATCHING_DEFAULTS = { maxQueued: 10_000, serviceShare: 0.5 } as const;

/** All replicas of one model version. */
export class ReplicaGroup {
  private readonly choice = new ReplicaChoice();
  private readonly retiring = new RetiringReplicas();
  /** Inputs that have spoilt batches. */
  private readonly suspects = new SuspectInputs();
  private readonly patience = new HangPatience();
  private readonly past = new ServicePast();
  private readonly probation: Probation;
  private readonly stranded: StrandedEvaluations;
  /** What the model takes; undefined: nobody can tell before its first replica has said it. */
  private form: InputForm | undefined;
  /** No replica will come any more. */
  private isOver = false;
  private objectiveNs = Infinity;
  private highestClass: LaunchClass;
  private ports = 0;

  constructor(
    readonly model: ModelRecord,
    private readonly options: BatchingOptions,
  ) {
    this.highestClass = this.launchClass;
    const { name, version } = model;
    const port = `batching/${name}/${version}`;
    this.stranded = new StrandedEvaluations(options.clock, `${port}/stranded`);
    this.probation = new Probation(options.clock, `${port}/probation`, (isWanted) => {
      const comes = options.requestApart(name, version, isWanted);
      this.suspects.areTriedApart = isWanted && comes;
      return comes;
    });
  }

  get size(): number {
    return this.choice.queues.length;
  }

  /** Time in which what is asked now is expected to be answered; undefined before enough was. */
  expectedNs(nowNs: number): number | undefined {
    return this.choice.expectedNs(nowNs);
  }

  /** No replica of it has ever come, so that nobody can tell what the model takes. */
  get isUnheard(): boolean {
    return this.choice.queues.length === 0 && this.form === undefined;
  }

  /** Of queries whose application says nothing. */
  get launchClass(): LaunchClass {
    const { container } = this.model;
    return (container.kind === 'kernelModel' ? container.launchClass : undefined) ?? DEFAULT_CLASS;
  }

  /** What the model takes has become known: who waits to hear it with something else waits in vain. */
  learnForm(form: InputForm): void {
    if (this.form === undefined) {
      for (const evaluation of this.stranded.take()) {
        const message = inputProblem(form, evaluation.input, 'the model');
        if (message === undefined) this.stranded.add(evaluation);
        else failEvaluation(evaluation, { reason: 'invalid_input', message });
      }
    }
    this.form = form;
  }

  /** The highest class of the applications that use the model. */
  setHighestClass(launchClass: LaunchClass): void {
    this.highestClass = launchClass;
    for (const queue of this.everyQueue()) queue.setHighestClass(launchClass);
  }

  /** The shortest latency objective of the applications that use the model. */
  setObjectiveNs(objectiveNs: number): void {
    this.objectiveNs = objectiveNs;
    for (const queue of this.everyQueue()) {
      queue.controller.setObjectiveNs(objectiveNs * this.options.serviceShare);
    }
  }

  /**
   * Takes a replica in whose `hello` has arrived.
   * @param isApart it is the one that was asked for by `requestApart`.
   * @returns its queue, which from now on is to get the channel's frames.
   * @throws RangeError when the hello does not fit the model.
   */
  add(channel: ContainerChannel, hello: HelloFrame, isApart = false): ReplicaQueue {
    checkHello(this.model, hello);
    const controller = controllerFor(this.model.batching, hello.maxBatchSize);
    controller.setObjectiveNs(this.objectiveNs * this.options.serviceShare);
    const queue = new ReplicaQueue({
      clock: this.options.clock,
      port: `batching/${this.model.name}/${this.model.version}/${hello.replica}#${this.ports++}`,
      channel,
      hello,
      launchClass: this.launchClass,
      controller,
      maxQueued: this.options.maxQueued,
      delayNs: delayNs(this.model.batching),
      hang: this.hangLimits(),
      // That one hangs with what hangs is no sign of a slow model.
      patience: isApart ? new HangPatience(1) : this.patience,
      suspects: this.suspects,
      elsewhere: this.past,
      sendApart: (evaluation) => !isApart && this.sendApart(evaluation),
      observer: this.options.observer,
      onLoad: (of) => this.choice.onLoad(of),
      onLost: (lost, loss) => this.onLost(lost, loss),
    });
    queue.setHighestClass(this.highestClass);
    this.options.observer.onReplicaUp(hello.model, hello.version, hello.replica);
    const nowNs = this.options.clock.nowNs();
    if (isApart) {
      this.probation.queue = queue;
      this.suspects.killing.onTrialsResumed(nowNs);
    } else {
      this.choice.add(queue);
    }
    for (const evaluation of this.stranded.take()) this.enqueue(evaluation, nowNs);
    if (isApart) for (const evaluation of this.probation.take()) this.enqueue(evaluation, nowNs);
    return queue;
  }

  /** Queues the evaluation at the replica with the least expected wait, or fails it at once. */
  enqueue(evaluation: Evaluation, nowNs: number): void {
    const verdict = this.suspects.recognise(evaluation, nowNs);
    if (verdict !== undefined) {
      failEvaluation(evaluation, { reason: 'model_error', message: `${verdict} (${this.label})` });
      return;
    }
    if (this.isUnheard && !this.isOver && this.stranded.size < this.options.maxQueued) {
      // Whether it is to be refused, its first replica will say.
      this.stranded.add(evaluation);
      return;
    }
    const { probation } = this;
    const isTriedApart = evaluation.isDangerous && probation.isOpen;
    const queue = isTriedApart ? probation.queue : this.forEverybody(nowNs);
    if (queue === undefined && isTriedApart && this.mayAwait(evaluation, nowNs)) {
      probation.await(evaluation);
      return;
    }
    if (queue === undefined || queue.full) {
      evaluation.state = 'done';
      evaluation.onFailure(
        queue === undefined
          ? this.noReplica()
          : {
              reason: 'overload',
              message: `the queues of ${this.label} are full`,
              retryAfterNs: queue.forecast.itemNs ?? 0,
            },
      );
      return;
    }
    const { source } = evaluation;
    if (source !== undefined && evaluation.isOfBadSource && queue.isFullFor(source)) {
      evaluation.state = 'done';
      evaluation.onFailure({
        reason: 'overload',
        message: `${this.label} fails for inputs of this client: what may wait of them is limited`,
        retryAfterNs: queue.forecast.itemNs ?? 0,
      });
      return;
    }
    const lateNs = queue.forecast.lateByNs(evaluation, nowNs);
    const other = lateNs <= 0 ? queue : isTriedApart ? undefined : this.choice.inTime(evaluation, nowNs);
    if (other === undefined) {
      evaluation.state = 'done';
      evaluation.onFailure({
        reason: 'overload',
        message: `the queues of ${this.label} are too long for an answer by its deadline`,
        retryAfterNs: lateNs,
      });
      return;
    }
    other.enqueue(evaluation, nowNs);
  }

  /** Who is there for what takes others down stands in for them until they are back. */
  private forEverybody(nowNs: number): ReplicaQueue | undefined {
    return this.choice.queues.length === 1
      ? this.choice.queues[0]
      : (this.choice.leastWait(nowNs) ?? this.probation.queue);
  }

  /** Whether there is time and room to wait for the replica that tries what may take others down. */
  private mayAwait(evaluation: Evaluation, nowNs: number): boolean {
    return (
      evaluation.expiresNs - nowNs > SOONEST_RESTART_NS && this.probation.waiting < this.options.maxQueued / 4
    );
  }

  /** Takes one that waits for another replica to the one that tries what may take others down. */
  private sendApart(evaluation: Evaluation): boolean {
    const { probation } = this;
    if (!probation.isOpen) return false;
    if (probation.queue === undefined) probation.await(evaluation);
    else probation.queue.enqueue(evaluation, this.options.clock.nowNs());
    return true;
  }

  private everyQueue(): readonly ReplicaQueue[] {
    const { queue } = this.probation;
    return queue === undefined ? this.choice.queues : [...this.choice.queues, queue];
  }

  /**
   * Takes one replica out of use with no evaluation lost: those that wait for it go to others that have room and time
   * for them, the rest is answered by it, and then its channel is closed. Calls back when that is done; at once for a
   * replica that was lost.
   */
  retire(queue: ReplicaQueue, done: () => void): void {
    if (this.forget(queue)) this.end(queue);
    this.retiring.await(queue, done);
  }

  /** Takes every replica out of use once it has answered what it has; calls back when all are gone. */
  retireAll(done: () => void): void {
    this.endStranded();
    for (const queue of [...this.everyQueue()]) {
      this.forget(queue);
      this.end(queue);
    }
    this.retiring.awaitAll(done);
  }

  /** Takes every replica out of use at once. */
  close(reason: string): void {
    this.endStranded();
    for (const queue of [...this.everyQueue(), ...this.retiring.queues]) queue.lose(reason, true);
  }

  private endStranded(): void {
    this.isOver = true;
    for (const evaluation of [...this.stranded.close(), ...this.probation.close()]) {
      failEvaluation(evaluation, this.noReplica());
    }
  }

  /** @returns whether the queue was one of the group's. */
  private forget(queue: ReplicaQueue): boolean {
    if (this.probation.queue === queue) {
      this.probation.queue = undefined;
      return true;
    }
    return this.choice.remove(queue);
  }

  private noReplica(): PredictionFailure {
    return { reason: 'no_replica', message: `no replica of ${this.label} is up` };
  }

  /** Of a queue that is among the group's no more. */
  private end(queue: ReplicaQueue): void {
    const waiting = this.retiring.begin(queue);
    const nowNs = this.options.clock.nowNs();
    for (const evaluation of waiting) {
      const heir = this.choice.leastWait(nowNs);
      const takes = heir !== undefined && !heir.full && heir.forecast.lateByNs(evaluation, nowNs) <= 0;
      (takes ? heir : queue).enqueue(evaluation, nowNs);
    }
  }

  statuses(): ReplicaStatus[] {
    return this.choice.queues.map((queue) => queue.status());
  }

  private get label(): string {
    return `model '${this.model.name}' version '${this.model.version}'`;
  }

  private hangLimits(): HangLimits | undefined {
    const { hang } = this.options;
    if (hang === undefined || this.model.container.kind !== 'kernelModel') return hang;
    return { ...hang, minimumMs: Math.max(hang.minimumMs, hang.sharedThreadMs) };
  }

  /** Whether nobody is up for it, nor comes for its like. */
  private standsAlone(evaluation: Evaluation): boolean {
    const { probation } = this;
    if (evaluation.isDangerous && probation.isOpen) return false;
    return this.size === 0 && probation.queue === undefined;
  }

  private onLost(lost: ReplicaQueue, { inFlight, queued, reason, isFresh, isIntended }: ReplicaLoss): void {
    // What it was asked before may do so a while later: there the input is tried again as the first.
    const isProof = this.probation.queue !== lost || isFresh;
    this.forget(lost);
    const nowNs = this.options.clock.nowNs();
    const expired: PredictionFailure = { reason: 'expired', message: `its replica was lost: ${reason}` };
    // Accused before anything is sent again, so that whoever answers at once finds everything in order.
    let verdict: string | undefined;
    if (!isIntended) {
      if (inFlight.length > 0 && !this.isOver) this.probation.onLost(nowNs);
      const wereAlone = inFlight.length === 1;
      for (const { items } of inFlight) {
        verdict = this.suspects.accuse(items, true, wereAlone, nowNs, isProof);
      }
    }
    let requeued = 0;
    for (const evaluation of [...inFlight.flatMap(({ items }) => items), ...queued]) {
      // A failure's callback may have cancelled others of the list.
      if (evaluation.state === 'done') continue;
      evaluation.queue = undefined;
      if (verdict !== undefined && evaluation === inFlight[0].items[0]) {
        failEvaluation(evaluation, { reason: 'model_error', message: `${verdict}: ${reason}` });
      } else if (evaluation.expiresNs <= nowNs) {
        failEvaluation(evaluation, expired);
      } else {
        requeued += 1;
        const waits = evaluation.expiresNs - nowNs > SOONEST_RESTART_NS;
        if (this.standsAlone(evaluation) && waits && !this.isOver) this.stranded.add(evaluation);
        else this.enqueue(evaluation, nowNs);
      }
    }
    const { model, version, replica } = lost.hello;
    if (requeued > 0) this.options.observer.onRequeued(model, version, replica, requeued);
  }
}

/** @throws RangeError when a delay is no time. */
function delayNs(batching: BatchingChoice): number {
  const { delayUs = 0 } = batching.strategy === 'none' ? {} : batching;
  if (!(delayUs >= 0 && delayUs < Infinity)) {
    throw new RangeError(`delayUs must be 0 or more microseconds, not ${delayUs}`);
  }
  return delayUs * 1000;
}

function checkHello(model: ModelRecord, hello: HelloFrame): void {
  const expect = (ok: boolean, field: string, wanted: string, got: unknown): void => {
    if (!ok)
      throw new RangeError(
        `hello of replica '${hello.replica}': ${field} must be ${wanted}, not ${String(got)}`,
      );
  };
  expect(
    isSpokenVersion(hello.protocolVersion),
    'protocolVersion',
    `${OLDEST_PROTOCOL_VERSION} to ${PROTOCOL_VERSION}`,
    hello.protocolVersion,
  );
  expect(hello.inputType === model.inputType, 'inputType', model.inputType, hello.inputType);
  expect(
    hello.inputLength === undefined ||
      model.inputLength === undefined ||
      hello.inputLength === model.inputLength,
    'inputLength',
    `${model.inputLength}`,
    hello.inputLength,
  );
  expect(count(hello.maxBatchSize), 'maxBatchSize', 'a whole number above 0', hello.maxBatchSize);
  expect(count(hello.credits), 'credits', 'a whole number above 0', hello.credits);
}

function count(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}
