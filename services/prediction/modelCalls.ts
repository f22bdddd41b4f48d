import type { Clock } from '../../simulator/time/index.js';
import type { HeapItem } from '../batching/index.js';
import type {
  CacheEntry,
  CacheWaiter,
  Prediction,
  PredictionCache,
  PredictionFailure,
  WaiterTrace,
} from '../cache/index.js';
import { Deadlines } from './deadlines.js';
import { awaitEvaluation, leaveEvaluation } from './evaluationWait.js';
import type { CachedEvaluation } from './liveQuery.js';
import { invalidInput } from './refusals.js';
import type { ServedModel } from './servedModel.js';
import type {
  MissingVote,
  ModelCall,
  ModelCallSink,
  ModelRequest,
  ModelVote,
  QueryRefusal,
} from './types.js';

/** `left`: nobody waited any more; `refused`: the model does not take the input. */
export type CallOutcome = ModelVote | 'left' | 'refused';

/**
 * Single models asked by name, past every policy: through the same cache and queues as queries, answered at the deadline
 * at the latest. Nothing is learned from them.
 */
export class ModelCalls {
  private readonly deadlines: Deadlines<PendingCall>;

  /** @param onEnded called after each call's end, with what became of it. */
  constructor(
    private readonly clock: Clock,
    port: string,
    private readonly cache: PredictionCache<CachedEvaluation>,
    private readonly onEnded: (outcome: CallOutcome, latencyNs: number, budgetNs: number) => void,
  ) {
    this.deadlines = new Deadlines(clock, port, (call) => call.miss('deadline'));
  }

  /** Calls without an answer yet. */
  get size(): number {
    return this.deadlines.size;
  }

  /** Asks; the sink may be called before this returns. */
  start(model: ServedModel, request: ModelRequest, sink: ModelCallSink): ModelCall {
    const { input, budgetNs, launchClass, trace } = request;
    const nowNs = this.clock.nowNs();
    const call = new PendingCall(this, model, request, sink, nowNs + budgetNs);
    this.deadlines.push(call);
    const lookup = this.cache.request(model.number, input, this.cache.hash(input), call);
    const entry = this.cache.current;
    if (entry === undefined) return call;
    call.trace = trace?.onAsked(model.record.name, model.record.version, lookup);
    if (lookup === 'hit') {
      call.cached = true;
      call.onPrediction(entry);
      return call;
    }
    call.entry = entry;
    const isJoin = lookup === 'join';
    const { deadlineNs, trace: waits } = call;
    awaitEvaluation(this.cache, entry, isJoin, model, request, launchClass, nowNs, deadlineNs, waits);
    return call;
  }

  /** Ends a call with what became of it; false when it had ended. */
  settle(call: PendingCall, vote: ModelVote): boolean {
    if (!this.deadlines.remove(call)) return false;
    call.sink.onVote(call.request, vote);
    this.ended(call, vote);
    return true;
  }

  /** Ends a call whose input its model does not take. */
  refuse(call: PendingCall, refusal: QueryRefusal): void {
    if (!this.deadlines.remove(call)) return;
    call.sink.onModelRefusal(call.request, refusal);
    this.ended(call, 'refused');
  }

  withdraw(call: PendingCall): boolean {
    if (!this.deadlines.remove(call)) return false;
    const { entry } = call;
    call.endTrace()?.onLeft('cancelled');
    if (entry !== undefined) leaveEvaluation(this.cache, entry);
    this.ended(call, 'left');
    return true;
  }

  private ended({ deadlineNs, request: { budgetNs } }: PendingCall, outcome: CallOutcome): void {
    const nowNs = this.clock.nowNs() + this.clock.behindNs();
    this.onEnded(outcome, nowNs - (deadlineNs - budgetNs), budgetNs);
  }

  /** Answers every open call: it is too late for it. */
  close(): void {
    for (;;) {
      const call = this.deadlines.first();
      if (call === undefined) break;
      call.miss('deadline');
    }
    this.deadlines.close();
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
  trace: WaiterTrace | undefined;

  constructor(
    private readonly calls: ModelCalls,
    private readonly model: ServedModel,
    readonly request: ModelRequest,
    readonly sink: ModelCallSink,
    public deadlineNs: number,
  ) {}

  onPrediction({ output, scores }: Prediction): void {
    this.entry = undefined;
    this.endTrace()?.onPrediction();
    const { name, version } = this.model.record;
    const vote = { name, version, cached: this.cached, output };
    this.calls.settle(this, scores === undefined ? vote : { ...vote, scores });
  }

  onFailure(failure: PredictionFailure): void {
    const { reason } = failure;
    this.entry = undefined;
    this.endTrace()?.onFailure(failure);
    if (reason === 'invalid_input') this.calls.refuse(this, invalidInput(this.model, failure));
    else this.miss(reason === 'expired' ? 'deadline' : reason, failure.retryAfterNs);
  }

  miss(missing: MissingVote, retryAfterNs?: number): void {
    const { name, version } = this.model.record;
    // Its evaluation has not ended: it is too late.
    this.endTrace()?.onLeft('deadline');
    const vote = { name, version, cached: false, missing };
    this.calls.settle(this, missing === 'overload' ? { ...vote, retryAfterNs: retryAfterNs ?? 0 } : vote);
  }

  endTrace(): WaiterTrace | undefined {
    const { trace } = this;
    this.trace = undefined;
    return trace;
  }

  cancel(): boolean {
    return this.calls.withdraw(this);
  }
}
