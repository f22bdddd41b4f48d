import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import {
  PROTOCOL_VERSION,
  type BatchItem,
  type FrontendFrame,
  type InputType,
  type ItemResult,
} from '../../protocol/index.js';
import type { Clock, EventSink } from '../../../simulator/time/index.js';
import type { ContainerOutlet, ModelContainer } from '../modelContainer.js';
import type { ReplicaIdentity } from '../replicaIdentity.js';

export interface SyntheticService {
  /** Service time of a batch of n: `fixedNs + n * itemNs`. */
  readonly fixedNs: number;
  readonly itemNs: number;
  /**
   * Each batch's time is multiplied by a uniform draw from [1 - share, 1 + share], keyed by seed and batch id, or by what
   * the function gives for the batch id.
   */
  readonly jitter?: { readonly share: number; readonly seed: number } | ((batchId: number) => number);
  /** The answer to every item, or to this one. */
  readonly output: string | ((item: BatchItem) => string);
  readonly inputType: InputType;
  readonly maxBatchSize: number;
  /** Default 2: the next batch waits at the container while one is served. */
  readonly credits?: number;
}

interface WaitingBatch {
  readonly batchId: number;
  readonly items: readonly BatchItem[];
  readonly arrivalNs: number;
  /** Items; undefined where none is. */
  cancelled: Set<number> | undefined;
}

/**
 * No model at all: for experiments with batching, in virtual time. Batches are served one after the other, in order,
 * and take a time that is known beforehand. Cancelled items of a batch that has not begun cost nothing.
 */
export class SyntheticContainer implements ModelContainer, EventSink {
  private readonly queue: WaitingBatch[] = [];
  private serving = false;

  /** @param port the container's name on the clock. */
  constructor(
    private readonly clock: Clock,
    private readonly port: string,
    identity: ReplicaIdentity,
    private readonly service: SyntheticService,
    private readonly outlet: ContainerOutlet,
  ) {
    clock.attach(port, this);
    outlet.onFrame({
      kind: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      model: identity.model,
      version: identity.version,
      replica: identity.replica,
      inputType: service.inputType,
      maxBatchSize: service.maxBatchSize,
      credits: service.credits ?? 2,
    });
  }

  get batchesInFlight(): number {
    return this.queue.length;
  }

  onFrame(frame: FrontendFrame): void {
    if (frame.kind === 'predict') {
      const { batchId, items } = frame;
      this.queue.push({ batchId, items, arrivalNs: this.clock.nowNs(), cancelled: undefined });
      this.serveNext();
      return;
    }
    const waiting = this.queue.find((batch, index) => {
      return batch.batchId === frame.batchId && !(index === 0 && this.serving);
    });
    if (waiting === undefined) return;
    waiting.cancelled ??= new Set();
    for (const id of frame.itemIds) waiting.cancelled.add(id);
  }

  onEvent(): void {
    const batch = this.queue.shift();
    this.serving = false;
    if (batch === undefined) return;
    this.outlet.onFrame({
      kind: 'result',
      batchId: batch.batchId,
      results: batch.items.map((item) => this.resultOf(item, batch.cancelled)),
      serviceNs: this.clock.nowNs() - batch.arrivalNs,
    });
    this.serveNext();
  }

  close(): void {
    this.clock.detach(this.port);
    this.queue.length = 0;
  }

  private serveNext(): void {
    if (this.serving || this.queue.length === 0) return;
    this.serving = true;
    this.clock.schedule(this.port, this.clock.nowNs() + this.serviceNsOf(this.queue[0]), 'served');
  }

  private serviceNsOf({ batchId, items, cancelled }: WaitingBatch): number {
    const served =
      cancelled === undefined ? items.length : items.filter(({ id }) => !cancelled.has(id)).length;
    if (served === 0) return 0;
    const { fixedNs, itemNs, jitter } = this.service;
    const meanNs = fixedNs + served * itemNs;
    if (jitter === undefined) return meanNs;
    if (typeof jitter === 'function') return meanNs * jitter(batchId);
    const draw = uniformFloat64(xoroshiro128plus(jitter.seed ^ Math.imul(batchId, 0x9e3779b1)));
    return meanNs * (1 + jitter.share * (2 * draw - 1));
  }

  private resultOf(item: BatchItem, cancelled: ReadonlySet<number> | undefined): ItemResult {
    const { id } = item;
    if (cancelled?.has(id) === true) {
      return { id, ok: false, code: 'cancelled', message: 'cancelled before it was served' };
    }
    const { output } = this.service;
    return { id, ok: true, output: typeof output === 'string' ? output : output(item) };
  }
}
