import type { CompletionSink, DriverCompletion, DriverFailure } from '../../../simulator/driver/index.js';
import type { BatchWork } from './batchWork.js';
import type { AnswerReader } from './answers.js';
import { describe, launchCommand, type ContextSession } from './contextSession.js';

export interface SlotListener {
  /** The batch is on the device, and waits for its turn to compute. */
  onCopiedIn(slot: BatchSlot): void;
  /** The device has finished computing; outputs are on their way back. */
  onComputed(slot: BatchSlot): void;
  /** The batch has all its results; the slot is free. */
  onAnswered(slot: BatchSlot, batch: BatchWork): void;
  /** A launch of this slot has printed something. */
  onPrinted(text: string): void;
  /** A kernel fault has killed the context. `own` when it was this batch's kernel. */
  onContextLost(slot: BatchSlot, failure: DriverFailure, own: boolean): void;
}

/** What a slot needs of its model. */
export interface SlotShape {
  readonly input: string;
  readonly itemBytes: number;
  readonly answers: AnswerReader;
}

type Phase = 'free' | 'copyingIn' | 'ready' | 'computing' | 'copyingOut';

/** One batch's way over the device, on a stream and in buffers of its own: in, through the launches, out. */
export class BatchSlot implements CompletionSink {
  private phase: Phase = 'free';
  private batch: BatchWork | undefined;
  private launchesLeft = 0;
  private commandsLeft = 0;
  private failure: string | undefined;
  private readonly outputs = new Map<string, Uint8Array>();
  private outputOrder: string[] = [];
  private lost = false;

  constructor(
    private readonly session: ContextSession,
    private readonly index: number,
    private readonly shape: SlotShape,
    private readonly listener: SlotListener,
  ) {}

  get isFree(): boolean {
    return this.phase === 'free';
  }

  get isReady(): boolean {
    return this.phase === 'ready';
  }

  get work(): BatchWork | undefined {
    return this.batch;
  }

  /** Not launched yet: its items can still be left out. */
  get isCancellable(): boolean {
    return this.phase === 'copyingIn' || this.phase === 'ready';
  }

  /** Copies the batch's unsettled items to the device. There must be one at least. */
  copyIn(batch: BatchWork): void {
    const { itemBytes, input } = this.shape;
    this.batch = batch;
    this.phase = 'copyingIn';
    this.failure = undefined;
    batch.live = batch.unsettled();
    const bytes = new Uint8Array(batch.live.length * itemBytes);
    batch.live.forEach((place, row) => bytes.set(batch.deviceBytes(place), row * itemBytes));
    this.submit({
      stream: this.stream,
      op: 'memcpyHostToDevice',
      args: { address: this.address(input), bytes, pinned: true },
    });
  }

  /** Launches the graph over the items that are still wanted. @returns false when none is, and the batch is answered. */
  compute(): boolean {
    const batch = this.batch;
    if (batch === undefined) return false;
    this.closeGaps(batch);
    if (batch.live.length === 0) {
      this.finish(batch);
      return false;
    }
    this.phase = 'computing';
    const launches = this.session.launches(this.index, batch.live.length);
    this.launchesLeft = launches.length;
    for (const launch of launches) this.submit(launchCommand(this.stream, launch, batch.givenClass));
    this.outputs.clear();
    this.outputOrder = this.shape.answers.outputs.map(({ name }) => name);
    for (const { name, itemBytes } of this.shape.answers.outputs) {
      this.submit({
        stream: this.stream,
        op: 'memcpyDeviceToHost',
        args: { address: this.address(name), bytes: batch.live.length * itemBytes, pinned: true },
      });
    }
    return true;
  }

  /** The session is over: completions that still come are nobody's. */
  abandon(): void {
    this.lost = true;
    this.phase = 'free';
    this.batch = undefined;
  }

  onCompletion({ op, failure, result }: DriverCompletion): void {
    if (this.lost || this.batch === undefined) return;
    this.commandsLeft -= 1;
    if (result?.launch?.printed !== undefined) this.listener.onPrinted(result.launch.printed);
    if (failure?.code === 'kernelFault' || failure?.code === 'contextFaulted') {
      this.listener.onContextLost(this, failure, failure.code === 'kernelFault');
      return;
    }
    if (failure !== undefined) this.failure ??= describe(op, failure);
    if (op === 'memcpyDeviceToHost') {
      const name = this.outputOrder.shift();
      if (name !== undefined && result?.bytes !== undefined) this.outputs.set(name, result.bytes);
    }
    if (op === 'launch' && --this.launchesLeft === 0) {
      this.phase = 'copyingOut';
      this.listener.onComputed(this);
    }
    if (this.commandsLeft > 0) return;
    if (this.phase === 'copyingIn' && this.failure === undefined) {
      this.phase = 'ready';
      this.listener.onCopiedIn(this);
    } else this.settle(this.batch);
  }

  private settle(batch: BatchWork): void {
    const { failure } = this;
    if (failure === undefined) {
      batch.live.forEach((place, row) => {
        batch.settle(place, this.shape.answers.read(batch.item(place).id, row, this.outputs));
      });
    } else batch.failRest('modelError', failure);
    this.finish(batch);
  }

  private finish(batch: BatchWork): void {
    this.phase = 'free';
    this.batch = undefined;
    this.listener.onAnswered(this, batch);
  }

  /** Moves items from the end of the batch into the places of those that were cancelled since the copy. */
  private closeGaps(batch: BatchWork): void {
    const { live } = batch;
    const address = this.address(this.shape.input);
    const { itemBytes } = this.shape;
    for (let row = 0; row < live.length; row++) {
      if (!batch.isSettled(live[row])) continue;
      while (live.length > row + 1 && batch.isSettled(live[live.length - 1])) live.pop();
      const last = live.length - 1;
      if (last > row) {
        this.submit({
          stream: this.stream,
          op: 'memcpyDeviceToDevice',
          args: {
            destination: address + row * itemBytes,
            source: address + last * itemBytes,
            bytes: itemBytes,
          },
        });
        live[row] = live[last];
      }
      live.pop();
    }
  }

  private get stream(): number {
    return this.session.slots[this.index].stream;
  }

  private address(region: string): number {
    return this.session.slots[this.index].addresses.get(region) ?? 0;
  }

  private submit(command: Parameters<ContextSession['submit']>[0]): void {
    this.commandsLeft += 1;
    this.session.submit(command, this);
  }
}
