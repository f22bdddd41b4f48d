import type { Clock, EventSink } from '../../simulator/time/index.js';
import { DeadlineHeap, type HeapItem } from '../batching/index.js';
import type {
  CacheEntry,
  CacheWaiter,
  Prediction,
  PredictionCache,
  PredictionFailure,
} from '../cache/index.js';
import { CachedEvaluation } from './liveQuery.js';
import type { ServedModel } from './servedModel.js';
import type { ModelCall, ModelCallSink, ModelRequest, ModelVote } from './types.js';

/**
 * Single models asked by name, past every policy: through the same cache and queues as queries, answered at the deadline
 * at the latest. Nothing is learned from them.
 */
export class ModelCalls implements EventSink {
  private readonly deadlines = new DeadlineHeap<PendingCall>();
  private timerNs = Infinity;
  private timer = -1;

  /** @param onEnded called after each call's end. */
  constructor(
    private readonly clock: Clock,
    private readonly port: string,
    private readonly cache: PredictionCache<CachedEvaluation>,
    private readonly onEnded: () => void,
  ) {
    clock.attach(port, this);
  }

  /** Calls without an answer yet. */
  get size(): number {
    return this.deadlines.size;
  }

  /** Asks; the sink may be called before this returns. */
  start(model: ServedModel, request: ModelRequest, sink: ModelCallSink): ModelCall {
    const { input, budgetNs, traceparent } = request;
    const nowNs = this.clock.nowNs();
    const call = new PendingCall(this, model, request, sink, nowNs + budgetNs);
    this.deadlines.push(call);
    this.armTimer();
    const lookup = this.cache.request(model.number, input, this.cache.hash(input), call);
    const entry = this.cache.current;
    if (entry === undefined) return call;
    if (lookup === 'hit') {
      call.cached = true;
      call.onPrediction(entry);
      return call;
    }
    call.entry = entry;
    if (lookup === 'join') {
      const { work } = entry;
      work?.queue?.extend(work, call.deadlineNs, call.deadlineNs);
      return call;
    }
    const evaluation = new CachedEvaluation(this.cache, entry, nowNs, call.deadlineNs, traceparent);
    entry.work = evaluation;
    model.replicas.enqueue(evaluation, nowNs);
    return call;
  }

  /** Ends a call with what became of it; false when it had ended. */
  settle(call: PendingCall, vote: ModelVote): boolean {
    if (!this.deadlines.remove(call)) return false;
    call.sink.onVote(call.request, vote);
    this.onEnded();
    return true;
  }

  withdraw(call: PendingCall): boolean {
    if (!this.deadlines.remove(call)) return false;
    const { entry } = call;
    if (entry !== undefined && this.cache.release(entry)) {
      const { work } = entry;
      // Forgotten first: a container that answers the cancellation at once must find nothing to complete.
      this.cache.abandon(entry);
      work?.queue?.cancel(work);
    }
    this.onEnded();
    return true;
  }

  /** Answers every open call: it is too late for it. */
  close(): void {
    for (;;) {
      const call = this.deadlines.first();
      if (call === undefined) break;
      call.miss('deadline');
    }
    this.clock.detach(this.port);
  }

  onEvent(_kind: string, _payload: unknown, nowNs: number): void {
    this.timerNs = Infinity;
    for (;;) {
      const first = this.deadlines.first();
      if (first === undefined || first.deadlineNs > nowNs) break;
      first.miss('deadline');
    }
    this.armTimer();
  }

  private armTimer(): void {
    const first = this.deadlines.first();
    if (first === undefined || this.timerNs <= first.deadlineNs) return;
    if (this.timerNs !== Infinity) this.clock.cancel(this.timer);
    this.timerNs = first.deadlineNs;
    this.timer = this.clock.schedule(this.port, first.deadlineNs, 'deadline');
  }
}

/** One call until its answer. */
class PendingCall implements CacheWaiter, HeapItem, ModelCall {
  order = 0;
  heapIndex = -1;
  nextWaiter: CacheWaiter | undefined;
  cached = false;
  /** The entry it waits for. */
  entry: CacheEntry<CachedEvaluation> | undefined;

  constructor(
    private readonly calls: ModelCalls,
    private readonly model: ServedModel,
    readonly request: ModelRequest,
    readonly sink: ModelCallSink,
    public deadlineNs: number,
  ) {}

  onPrediction({ output, scores }: Prediction): void {
    this.entry = undefined;
    const { name, version } = this.model.record;
    const vote = { name, version, cached: this.cached, output };
    this.calls.settle(this, scores === undefined ? vote : { ...vote, scores });
  }

  onFailure({ reason }: PredictionFailure): void {
    this.entry = undefined;
    this.miss(reason === 'expired' ? 'deadline' : reason);
  }

  miss(missing: NonNullable<ModelVote['missing']>): void {
    const { name, version } = this.model.record;
    this.calls.settle(this, { name, version, cached: false, missing });
  }

  cancel(): boolean {
    return this.calls.withdraw(this);
  }
}
