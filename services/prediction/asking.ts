import type { PredictionCache } from '../cache/index.js';
import { awaitEvaluation } from './evaluationWait.js';
import { type CachedEvaluation, type LiveQuery, Task, type TaskOwner } from './liveQuery.js';
import { outcomeOf } from './noticedQueries.js';
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
  const task = taskOf(owner, live, model);
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
  askLast(cache, tasks, input, origin, nowNs);
}

const NO_ARMS: readonly string[] = [];

/** Asks the other versions of models with one on trial, as shadows. */
export function askTwins(
  cache: PredictionCache<CachedEvaluation>,
  owner: TaskOwner,
  live: LiveQuery,
  input: Uint8Array,
  origin: RequestOrigin,
  nowNs: number,
): void {
  const twins: Task[] = [];
  for (const task of live.tasks) {
    const { choice } = task;
    if (choice?.selection.shadows === undefined) continue;
    task.twin = new Task(owner, live, choice.other, true);
    twins.push(task.twin);
  }
  if (twins.length === 0) return;
  live.twins = twins;
  askLast(cache, twins, input, origin, nowNs);
}

function askLast(
  cache: PredictionCache<CachedEvaluation>,
  tasks: readonly Task[],
  input: Uint8Array,
  { source }: RequestOrigin,
  nowNs: number,
): void {
  const hash = cache.hash(input);
  const last = { priority: LOWEST_PRIORITY, launchClass: 'bestEffort', source } as const;
  for (const task of tasks) ask(cache, task, input, hash, last, nowNs);
}

function tasksOf(owner: TaskOwner, live: LiveQuery, pinned: ServedModel | undefined): Task[] {
  const { arms } = live.selection;
  const { models } = live.application;
  if (arms.length === 1) {
    const model = pinned ?? models.get(arms[0]);
    // A literal: pushing onto an empty array would reserve room for 17, in every query that is remembered.
    return model === undefined ? [] : [taskOf(owner, live, model)];
  }
  const tasks: Task[] = [];
  for (const arm of arms) {
    const model = models.get(arm);
    if (model !== undefined) tasks.push(taskOf(owner, live, model));
  }
  return tasks;
}

/** Of the version that is asked where one is on trial. */
function taskOf(owner: TaskOwner, live: LiveQuery, model: ServedModel): Task {
  const choice = live.pinned ? undefined : model.trial?.choose(live.id, live.query?.context ?? live.context);
  if (choice === undefined) return new Task(owner, live, model);
  return new Task(owner, live, choice.model, false, choice);
}

/** Asks the other version where the one that was asked has failed and there is time. @returns whether it is asked */
export function askOther(cache: PredictionCache<CachedEvaluation>, task: Task, nowNs: number): boolean {
  const { choice, live } = task;
  const { query } = live;
  if (choice === undefined || task.firstOutcome !== undefined || query === undefined) return false;
  if (nowNs >= live.deadlineNs) return false;
  const { version } = task.model.record;
  task.firstOutcome = { ...outcomeOf(task), arm: version };
  choice.selection = { ...choice.selection, arms: [version, choice.other.record.version] };
  task.model = choice.other;
  task.failure = undefined;
  ask(cache, task, query.input, cache.hash(query.input), query, nowNs);
  return true;
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
  if (live.application.noticed !== undefined || task.choice !== undefined) {
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
