import type {
  BatchItem,
  CancelFrame,
  ContainerChannel,
  ContainerFrame,
  FrameSink,
  HelloFrame,
  PredictFrame,
  ResultFrame,
} from '../../protocol/index.js';

/** A batch that is at the container. */
interface Batch {
  readonly holder: Holder;
  /** As its frontend calls it. */
  readonly batchId: number;
  /** For how long it waited for its turn, in nanoseconds. */
  readonly waitedNs: number;
  readonly items: readonly BatchItem[];
}

interface WaitingBatch {
  readonly frame: PredictFrame;
  readonly sinceMs: number;
  readonly cancelled: Set<number>;
}

/** One frontend's hold on a replica. */
export interface Hold {
  send(frame: PredictFrame | CancelFrame): void;
  /** Gives it back. @param isLost the frontend went without saying so */
  release(isLost: boolean): void;
}

interface Holder {
  readonly sink: FrameSink<ContainerFrame>;
  readonly waiting: WaitingBatch[];
  /** At the container. */
  readonly inFlight: Map<number, number>;
}

export interface SharedReplicaOptions {
  readonly nowMs: () => number;
  /** Nobody holds it. @param isLost the last frontend went without saying so */
  readonly onFree: (isLost: boolean) => void;
  /** It is down, or somebody gave it up with batches unanswered: nobody else is to get it. */
  readonly onSpent: () => void;
}

/**
 * One replica that several frontends ask. Each may send as many batches as the container gave credits; the container gets no
 * more than those, from all of them in turn: whoever asks alone has all of it, and nobody waits for more than a turn of
 * every other. Batches are renumbered on their way.
 */
export class SharedReplica {
  private readonly holders: Holder[] = [];
  private readonly batches = new Map<number, Batch>();
  private hello: HelloFrame | undefined;
  private credits = 0;
  private nextBatch = 1;
  /** Whose turn is next. */
  private turn = 0;
  private isOver = false;

  constructor(
    private readonly channel: ContainerChannel,
    private readonly options: SharedReplicaOptions,
  ) {
    channel.open({ onFrame: (frame) => this.onFrame(frame) });
  }

  get isHeld(): boolean {
    return this.holders.length > 0;
  }

  hold(sink: FrameSink<ContainerFrame>): Hold {
    const holder: Holder = { sink, waiting: [], inFlight: new Map() };
    this.holders.push(holder);
    if (this.hello !== undefined) sink.onFrame({ ...this.hello, credits: this.credits });
    return {
      send: (frame) => {
        if (frame.kind === 'predict') this.onPredict(holder, frame);
        else this.onCancel(holder, frame);
      },
      release: (isLost) => this.release(holder, isLost),
    };
  }

  /** Ends it; whoever holds it hears `down`. */
  close(reason: string): void {
    this.channel.close(reason);
    this.goDown({ kind: 'down', reason, isOutside: true });
  }

  private onFrame(frame: ContainerFrame): void {
    if (this.isOver) return;
    switch (frame.kind) {
      case 'hello':
        this.hello = frame;
        this.credits = frame.credits;
        break;
      case 'credit':
        this.credits += frame.credits;
        break;
      case 'result':
        this.onResult(frame);
        this.ask();
        return;
      case 'down':
        this.goDown(frame);
        return;
      case 'printed':
        break;
    }
    for (const { sink } of [...this.holders]) sink.onFrame(frame);
    if (frame.kind === 'credit') this.ask();
  }

  private onPredict(holder: Holder, frame: PredictFrame): void {
    if (this.isOver || !this.holders.includes(holder)) return;
    if (holder.waiting.length + holder.inFlight.size >= this.credits) {
      const reason = `a frontend sent more batches than its ${this.credits} credits`;
      this.release(holder, false);
      holder.sink.onFrame({ kind: 'down', reason });
      return;
    }
    const isFree =
      this.batches.size < this.credits && this.holders.every(({ waiting }) => waiting.length === 0);
    if (isFree) this.send(holder, frame, 0);
    else holder.waiting.push({ frame, sinceMs: this.options.nowMs(), cancelled: new Set() });
  }

  private onCancel(holder: Holder, frame: CancelFrame): void {
    const { batchId, itemIds } = frame;
    const number = holder.inFlight.get(batchId);
    if (number !== undefined) {
      this.channel.send({ ...frame, batchId: number });
      return;
    }
    const at = holder.waiting.findIndex((waiting) => waiting.frame.batchId === batchId);
    if (at < 0) return;
    const { frame: predict, cancelled } = holder.waiting[at];
    for (const id of itemIds) cancelled.add(id);
    if (!predict.items.every(({ id }) => cancelled.has(id))) return;
    holder.waiting.splice(at, 1);
    const results = predict.items.map(
      ({ id }) => ({ id, ok: false, code: 'cancelled', message: 'cancelled' }) as const,
    );
    holder.sink.onFrame({ kind: 'result', batchId, results, serviceNs: 0 });
  }

  /** Hands the container what it has credits for. */
  private ask(): void {
    while (!this.isOver && this.batches.size < this.credits) {
      const holder = this.nextHolder();
      if (holder === undefined) return;
      const waiting = holder.waiting.shift();
      if (waiting !== undefined) this.sendWaiting(holder, waiting);
    }
  }

  private nextHolder(): Holder | undefined {
    const { holders } = this;
    for (let step = 0; step < holders.length; step++) {
      const at = (this.turn + step) % holders.length;
      if (holders[at].waiting.length === 0) continue;
      this.turn = (at + 1) % holders.length;
      return holders[at];
    }
    return undefined;
  }

  private sendWaiting(holder: Holder, { frame, sinceMs, cancelled }: WaitingBatch): void {
    const waitedNs = (this.options.nowMs() - sinceMs) * 1e6;
    // What is left of each item's time is told, and no time of any clock.
    const items = frame.items.map((item) => ({ ...item, budgetNs: item.budgetNs - waitedNs }));
    const batchId = this.send(holder, { ...frame, items }, waitedNs);
    if (cancelled.size > 0) this.channel.send({ kind: 'cancel', batchId, itemIds: [...cancelled] });
  }

  /** @returns what the container calls it */
  private send(holder: Holder, frame: PredictFrame, waitedNs: number): number {
    const batchId = this.nextBatch++;
    const { items } = frame;
    this.batches.set(batchId, { holder, batchId: frame.batchId, waitedNs, items });
    holder.inFlight.set(frame.batchId, batchId);
    this.channel.send({ ...frame, batchId });
    return batchId;
  }

  private onResult(frame: ResultFrame): void {
    const batch = this.batches.get(frame.batchId);
    if (batch === undefined) return;
    this.batches.delete(frame.batchId);
    const { holder, batchId, waitedNs } = batch;
    // Of one that has left: nobody waits for it.
    if (!holder.inFlight.delete(batchId) || !this.holders.includes(holder)) return;
    holder.sink.onFrame({ ...frame, batchId, ...(waitedNs === 0 ? {} : waitedParts(frame, waitedNs)) });
  }

  private release(holder: Holder, isLost: boolean): void {
    const at = this.holders.indexOf(holder);
    if (at < 0) return;
    this.holders.splice(at, 1);
    if (this.turn > at) this.turn -= 1;
    const isUnanswered = holder.inFlight.size > 0;
    for (const number of holder.inFlight.values()) {
      const itemIds = (this.batches.get(number)?.items ?? []).map(({ id }) => id);
      this.channel.send({ kind: 'cancel', batchId: number, itemIds });
    }
    holder.waiting.length = 0;
    holder.inFlight.clear();
    if (this.isOver) return;
    // Given up before it had answered: it hangs, for all that its frontend knows, and nobody is to come by it again.
    if (isUnanswered && !isLost) this.options.onSpent();
    if (this.holders.length === 0) this.options.onFree(isLost);
  }

  private goDown(frame: Extract<ContainerFrame, { kind: 'down' }>): void {
    if (this.isOver) return;
    this.isOver = true;
    this.batches.clear();
    const holders = this.holders.splice(0);
    this.options.onSpent();
    for (const { sink } of holders) sink.onFrame(frame);
  }
}

/** The wait for others' batches, as a container tells it. */
function waitedParts(
  { serviceNs, parts }: ResultFrame,
  waitedNs: number,
): Pick<ResultFrame, 'serviceNs' | 'parts'> {
  const { waitNs = 0, inputNs = 0, outputNs = 0 } = parts ?? {};
  return { serviceNs: serviceNs + waitedNs, parts: { waitNs: waitNs + waitedNs, inputNs, outputNs } };
}
