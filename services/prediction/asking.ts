import type { PredictionCache } from '../cache/index.js';
import { awaitEvaluation } from './evaluationWait.js';
import { type CachedEvaluation, type LiveQuery, Task, type TaskOwner } from './liveQuery.js';
import type { ServedModel } from './servedModel.js';
import type { RequestOrigin } from './types.js';

/**
 * Asks the models that selection has chosen, or the pinned one, each by the cache. Afterwards `live.pending` of its tasks wait
 * for an evaluation.
 */
export function askModels(
  cache: PredictionCache<CachedEvaluation>,
  owner: TaskOwner,
  live: LiveQuery,
  input: Uint8Array,
  origin: RequestOrigin,
  pinned: ServedModel | undefined,
  nowNs: number,
): void {
  const hash = cache.hash(input);
  live.tasks = tasksOf(owner, live, pinned);
  live.pending = live.tasks.length;
  for (const task of live.tasks) ask(cache, task, input, hash, origin, nowNs);
}

/** Asks one model more, behind those that were asked. */
export function askMore(
  cache: PredictionCache<CachedEvaluation>,
  owner: TaskOwner,
  live: LiveQuery,
  model: ServedModel,
  input: Uint8Array,
  origin: RequestOrigin,
  nowNs: number,
): void {
  const task = new Task(owner, live, model);
  const { selection } = live;
  live.selection = { ...selection, arms: [...selection.arms, task.arm] };
  live.tasks = [...live.tasks, task];
  live.pending += 1;
  ask(cache, task, input, cache.hash(input), origin, nowNs);
}

const LOWEST_PRIORITY = 5;

/**
 * Asks shadows, when all others are asked: as the last in their queues, and with launches that make way for all others on
 * their GPUs. Nothing is traced of them.
 */
export function askShadows(
  cache: PredictionCache<CachedEvaluation>,
  owner: TaskOwner,
  live: LiveQuery,
  input: Uint8Array,
  origin: RequestOrigin,
  nowNs: number,
): void {
  const { shadows = NO_ARMS } = live.selection;
  const tasks: Task[] = [];
  for (const arm of shadows) {
    const model = live.application.models.get(arm);
    if (model !== undefined) tasks.push(new Task(owner, live, model, true));
  }
  if (tasks.length === 0) return;
  live.shadows = tasks;
  const hash = cache.hash(input);
  const last = { priority: LOWEST_PRIORITY, launchClass: 'bestEffort', source: origin.source } as const;
  for (const task of tasks) ask(cache, task, input, hash, last, nowNs);
}

const NO_ARMS: readonly string[] = [];

function tasksOf(owner: TaskOwner, live: LiveQuery, pinned: ServedModel | undefined): Task[] {
  const { arms } = live.selection;
  const { models } = live.application;
  if (arms.length === 1) {
    const model = pinned ?? models.get(arms[0]);
    // A literal: pushing onto an empty array would reserve room for 17, in every query that is remembered.
    return model === undefined ? [] : [new Task(owner, live, model)];
  }
  const tasks: Task[] = [];
  for (const arm of arms) {
    const model = models.get(arm);
    if (model !== undefined) tasks.push(new Task(owner, live, model));
  }
  return tasks;
}

function ask(
  cache: PredictionCache<CachedEvaluation>,
  task: Task,
  input: Uint8Array,
  hash: number,
  origin: RequestOrigin,
  nowNs: number,
): void {
  const { live, model } = task;
  const { trace } = origin;
  const lookup = cache.request(model.number, input, hash, task);
  const entry = cache.current;
  if (entry === undefined) return;
  if (live.application.noticed !== undefined) {
    task.askedNs = nowNs;
    task.isThere = model.replicas.size > 0;
  }
  if (trace !== undefined) task.trace = trace.onAsked(model.record.name, model.record.version, lookup);
  if (lookup === 'hit') {
    task.accept(entry);
    task.cached = true;
    if (!task.isShadow) live.pending -= 1;
    return;
  }
  task.entry = entry;
  const launchClass = origin.launchClass ?? live.application.record.launchClass;
  const isJoin = lookup === 'join';
  awaitEvaluation(cache, entry, isJoin, model, origin, launchClass, nowNs, live.deadlineNs, task.trace);
}
