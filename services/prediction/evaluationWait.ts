import type { LaunchClass } from '../../containers/protocol/index.js';
import { NORMAL_PRIORITY } from '../batching/index.js';
import type { CacheEntry, PredictionCache, WaiterTrace } from '../cache/index.js';
import { CachedEvaluation } from './liveQuery.js';
import type { ServedModel } from './servedModel.js';
import type { RequestOrigin } from './types.js';

/** Waits for an entry's prediction until a deadline: with those who wait already (`join`), or by an evaluation of its own. */
export function awaitEvaluation(
  cache: PredictionCache<CachedEvaluation>,
  entry: CacheEntry<CachedEvaluation>,
  isJoin: boolean,
  model: ServedModel,
  { priority: level = NORMAL_PRIORITY, traceparent, source }: RequestOrigin,
  /** Of the launches that compute it; undefined: the model's. */
  ownClass: LaunchClass | undefined,
  nowNs: number,
  deadlineNs: number,
  trace: WaiterTrace | undefined,
): void {
  const launchClass = ownClass ?? model.replicas.launchClass;
  if (isJoin) {
    const { work } = entry;
    work?.queue?.extend(work, deadlineNs, deadlineNs, level, launchClass);
    if (trace !== undefined && work?.state === 'sent') work.batchTrace?.onJoin(trace);
    return;
  }
  const evaluation = new CachedEvaluation(
    cache,
    entry,
    nowNs,
    deadlineNs,
    level,
    launchClass,
    traceparent,
    source,
  );
  entry.work = evaluation;
  model.replicas.enqueue(evaluation, nowNs);
}

/** One waits less for an entry's prediction; work that nobody else waits for never reaches a model. */
export function leaveEvaluation(
  cache: PredictionCache<CachedEvaluation>,
  entry: CacheEntry<CachedEvaluation>,
): void {
  if (!cache.release(entry)) return;
  const { work } = entry;
  // Forgotten first: a container that answers the cancellation at once must find nothing to complete.
  cache.abandon(entry);
  work?.queue?.cancel(work);
}
