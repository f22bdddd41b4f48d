import type { CommandSink, DriverFailure } from '../../../simulator/driver/index.js';
import type { LaunchClass } from '../../../simulator/scheduling/index.js';
import type { Clock } from '../../../simulator/time/index.js';
import { BATCHES_IN_FLIGHT, inputItemBytes, inputLength, type KernelModel } from '../../models/index.js';
import { PROTOCOL_VERSION, type FrontendFrame, type PredictFrame } from '../../protocol/index.js';
import { BusyMeter } from '../busyMeter.js';
import type { ContainerOutlet, ModelContainer } from '../modelContainer.js';
import type { ReplicaIdentity } from '../replicaIdentity.js';
import { AnswerReader } from './answers.js';
import { BatchSlot, type SlotListener, type SlotShape } from './batchSlot.js';
import { BatchWork } from './batchWork.js';
import { ContextSession, type SessionListener } from './contextSession.js';
import { PrintedText } from './printedText.js';
import { inputCheck, type InputCheck } from './inputCheck.js';
import { InputEncoding, type HostTurn } from './inputEncoding.js';

/** A batch that lost two contexts without being known as the cause is not tried a third time. */
const MAX_LOSSES = 2;

export interface KernelModelContainerOptions {
  readonly model: KernelModel;
  readonly identity: ReplicaIdentity;
  readonly clock: Clock;
  /** The node's driver. */
  readonly driver: CommandSink;
  /** Which of the node's GPUs. */
  readonly gpu: number;
  /** How much its launches may be made to wait. Default: `standard`. */
  readonly launchClass?: LaunchClass;
  readonly outlet: ContainerOutlet;
  /** The node's; its host clock, when it has one, also bounds the service times from below. */
  readonly meter?: BusyMeter;
  /** Long texts are encoded in turns with what the host does otherwise; at once unless given. */
  readonly hostTurn?: HostTurn;
  /** It has ended, and given back all that it held of the GPU. */
  readonly onFreed?: () => void;
}

/**
 * A kernel model at work on one GPU of a node. Two batches may be on the device: while one computes, the next is copied
 * in. Batches compute one after the other, in order of arrival; one of a higher class does not wait for one of a lower, and who
 * has the GPU then is the scheduling policy's to say.
 */
export class KernelModelContainer implements ModelContainer, SessionListener, SlotListener {
  private readonly options: KernelModelContainerOptions;
  private readonly meter: BusyMeter;
  private readonly check: InputCheck;
  private readonly shape: SlotShape;
  /** Of a model of strings. */
  private readonly encoding: InputEncoding | undefined;
  /** Batches with no slot yet, oldest first. */
  private readonly waiting: BatchWork[] = [];
  private session: ContextSession | undefined;
  private slots: BatchSlot[] = [];
  /** Batches on the device, oldest first. */
  private order: BatchSlot[] = [];
  private readonly computing = new Set<BatchSlot>();
  private readonly printed = new PrintedText();
  private saidHello = false;
  private stopped = false;
  private inFlight = 0;

  /** Sets up at once; the outlet hears `hello` when the model is loaded and its kernels are compiled. */
  constructor(options: KernelModelContainerOptions) {
    this.options = options;
    this.meter = options.meter ?? new BusyMeter();
    const { manifest } = options.model;
    this.check = inputCheck(manifest);
    const { model, hostTurn } = options;
    this.encoding = model.encoding === undefined ? undefined : new InputEncoding(model, hostTurn);
    this.shape = {
      input: manifest.inputs[0].name,
      itemBytes: inputItemBytes(manifest),
      answers: new AnswerReader(manifest),
    };
    this.openSession();
  }

  get batchesInFlight(): number {
    return this.inFlight;
  }

  /** The context that it runs in; 0 while it has none. */
  get context(): number {
    return this.session?.contextId ?? 0;
  }

  onFrame(frame: FrontendFrame): void {
    if (this.stopped) return;
    if (frame.kind === 'predict') this.take(frame);
    else this.cancel(frame.batchId, frame.itemIds);
  }

  close(): void {
    if (this.stopped) return;
    this.stopped = true;
    this.encoding?.close();
    const nowNs = this.options.clock.nowNs();
    for (; this.inFlight > 0; this.inFlight--) this.meter.leave(nowNs, nowNs);
    const { onFreed = () => undefined } = this.options;
    if (this.session === undefined) onFreed();
    else this.session.onFreed(onFreed);
    this.dropSession();
  }

  onReady(session: ContextSession): void {
    this.slots = session.slots.map((_, index) => new BatchSlot(session, index, this.shape, this));
    if (!this.saidHello) this.sayHello();
    this.fillSlots();
  }

  onSetupFailed(_session: ContextSession, reason: string): void {
    if (this.stopped) return;
    const { model, outlet } = this.options;
    this.close();
    outlet.onFrame({ kind: 'down', reason: `${model.folder}: ${reason}` });
  }

  onCopiedIn(slot: BatchSlot): void {
    slot.work?.onCopiedIn(this.options.clock.nowNs());
    this.computeNext();
  }

  onComputed(slot: BatchSlot): void {
    slot.work?.onComputed(this.options.clock.nowNs());
    this.computing.delete(slot);
    this.computeNext();
  }

  onAnswered(slot: BatchSlot, batch: BatchWork): void {
    this.computing.delete(slot);
    this.order = this.order.filter((other) => other !== slot);
    this.answer(batch);
    this.fillSlots();
    this.computeNext();
  }

  onPrinted(text: string): void {
    const { clock, outlet } = this.options;
    const taken = this.printed.take(text, clock.nowNs());
    if (taken !== undefined) outlet.onFrame({ kind: 'printed', text: taken });
  }

  onContextLost(slot: BatchSlot, failure: DriverFailure, own: boolean): void {
    const batches = this.order.map((other) => ({ batch: other.work, failed: other === slot && own }));
    this.dropSession();
    // Those that were on the device with the faulting batch did nothing wrong: they go first in the new context.
    const again: BatchWork[] = [];
    for (const { batch, failed } of batches) {
      if (batch === undefined) continue;
      batch.losses += 1;
      if (failed || batch.losses > MAX_LOSSES) {
        batch.failRest('kernelFault', failure.message);
        this.answer(batch);
      } else again.push(batch);
    }
    this.waiting.unshift(...again);
    this.openSession();
  }

  private sayHello(): void {
    const { model, identity, outlet } = this.options;
    const { manifest } = model;
    this.saidHello = true;
    outlet.onFrame({
      kind: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      model: identity.model,
      version: identity.version,
      replica: identity.replica,
      inputType: manifest.inputs[0].type,
      ...(manifest.inputs[0].type === 'strings' ? {} : { inputLength: inputLength(manifest) }),
      maxBatchSize: manifest.maxBatchSize,
      credits: BATCHES_IN_FLIGHT,
      ...(model.golden === undefined ? {} : { golden: model.golden }),
    });
  }

  private openSession(): void {
    if (this.stopped) return;
    const { driver, gpu, model, launchClass } = this.options;
    this.session = new ContextSession(driver, gpu, model, this, !this.saidHello, launchClass);
    this.session.begin();
  }

  private dropSession(): void {
    for (const slot of this.slots) slot.abandon();
    this.slots = [];
    this.order = [];
    this.computing.clear();
    this.session?.end();
    this.session = undefined;
  }

  private take(frame: PredictFrame): void {
    const { clock, model, launchClass } = this.options;
    const batch = new BatchWork(frame, clock.nowNs(), this.meter.hostNowNs?.() ?? 0, launchClass);
    this.inFlight += 1;
    this.meter.enter();
    const { maxBatchSize } = model.manifest;
    if (batch.size > maxBatchSize) {
      batch.failRest('modelError', `a batch of ${batch.size} items, the model takes at most ${maxBatchSize}`);
    }
    for (let place = 0; place < batch.size; place++) {
      const problem = batch.isSettled(place) ? undefined : this.check(batch.item(place).bytes);
      if (problem !== undefined) batch.fail(place, 'invalidInput', problem);
    }
    if (this.encoding === undefined) this.queue(batch);
    else this.encoding.encode(batch, (encoded) => this.queue(encoded));
  }

  private queue(batch: BatchWork): void {
    this.waiting.push(batch);
    this.fillSlots();
  }

  private cancel(batchId: number, itemIds: readonly number[]): void {
    const waiting = this.waiting.find((batch) => batch.batchId === batchId);
    const copied = this.order.find((slot) => slot.work?.batchId === batchId && slot.isCancellable);
    (waiting ?? copied?.work ?? this.encoding?.find(batchId))?.cancel(itemIds);
  }

  /** Gives free slots to the oldest batches that wait. */
  private fillSlots(): void {
    for (;;) {
      const batch = this.waiting[0];
      if (batch === undefined) return;
      const slot = this.slots.find(({ isFree }) => isFree);
      const done = batch.unsettled().length === 0;
      if (!done && slot === undefined) return;
      this.waiting.shift();
      if (done) this.answer(batch);
      else if (slot !== undefined) {
        this.order.push(slot);
        batch.onCopy(this.options.clock.nowNs());
        slot.copyIn(batch);
      }
    }
  }

  /** Lets the oldest batch of the highest class on the device compute, when none of that class or above does. */
  private computeNext(): void {
    const next = this.nextReady();
    if (next?.work === undefined) return;
    for (const { work } of this.computing) if (work !== undefined && !next.work.isAbove(work)) return;
    this.computing.add(next);
    next.work.onCompute(this.options.clock.nowNs());
    if (!next.compute()) this.computing.delete(next);
  }

  private nextReady(): BatchSlot | undefined {
    let next: BatchSlot | undefined;
    for (const slot of this.order) {
      if (!slot.isReady || slot.work === undefined) continue;
      if (next?.work === undefined || slot.work.isAbove(next.work)) next = slot;
    }
    return next;
  }

  private answer(batch: BatchWork): void {
    const { clock, outlet } = this.options;
    const nowNs = clock.nowNs();
    const hostNs = this.meter.hostNowNs === undefined ? 0 : this.meter.hostNowNs() - batch.hostArrivalNs;
    this.inFlight -= 1;
    this.meter.leave(batch.arrivalNs, nowNs);
    const parts = batch.parts(nowNs);
    outlet.onFrame({
      kind: 'result',
      batchId: batch.batchId,
      results: batch.answer(),
      serviceNs: Math.max(nowNs - batch.arrivalNs, hostNs),
      ...(parts === undefined ? {} : { parts }),
    });
  }
}
