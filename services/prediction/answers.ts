import type { Combination } from '../../selection/index.js';
import type { LiveQuery, Task } from './liveQuery.js';
import type { ServedApplication } from './servedApplication.js';
import { invalidInput } from './refusals.js';
import type { Answer, AnsweringModel, DefaultReason, Query, QueryRefusal } from './types.js';

const NO_MODELS: readonly AnsweringModel[] = Object.freeze([]);

/** The answer to a settled query: what its policy combines from the predictions that are there, or the default. */
export function answerOf(live: LiveQuery, nowNs: number): Answer {
  const { application, tasks } = live;
  const latencyNs = nowNs - live.acceptedNs;
  const arrived = allArrived(tasks) ? tasks : tasks.filter((task) => task.arrived);
  const combination: Combination | undefined =
    arrived.length === 0
      ? undefined
      : live.pinned
        ? { output: arrived[0].output, confidence: 1 }
        : (live.hosted?.combination ??
          application.policy.combine(live.state.state, live.selection.arms, arrived, live));
  if (combination?.output === undefined) {
    const defaultReason = reasonOf(live, arrived.length);
    const answer = {
      queryId: live.id,
      output: application.record.defaultOutput,
      isDefault: true,
      defaultReason,
      models: NO_MODELS,
      confidence: combination?.confidence ?? 0,
      cached: false,
      latencyNs,
    };
    return defaultReason === 'overload' ? { ...answer, retryAfterNs: retryAfterNs(tasks) } : answer;
  }
  return {
    queryId: live.id,
    output: combination.output,
    isDefault: false,
    models: modelsOf(arrived),
    confidence: combination.confidence,
    cached: arrived.every((task) => task.cached),
    latencyNs,
  };
}

/** What one of the models says against the input: it is wrong for the application then, whatever the others make of it. */
export function taskRefusal({ tasks }: LiveQuery): QueryRefusal | undefined {
  for (const { model, failure } of tasks) {
    if (failure?.reason === 'invalid_input') return invalidInput(model, failure);
  }
  return undefined;
}

/** The answer to a query of an application that has as many in flight as it may. */
export function overQuotaAnswer(query: Query, { record, objectiveNs }: ServedApplication): Answer {
  return {
    queryId: query.id,
    output: record.defaultOutput,
    isDefault: true,
    defaultReason: 'overload',
    models: NO_MODELS,
    confidence: 0,
    cached: false,
    latencyNs: 0,
    // By then, everything that is in flight now has its answer.
    retryAfterNs: objectiveNs,
  };
}

function allArrived(tasks: readonly Task[]): boolean {
  for (const task of tasks) if (!task.arrived) return false;
  return true;
}

function modelsOf(arrived: readonly Task[]): readonly AnsweringModel[] {
  if (arrived.length === 1) {
    const { model, cached } = arrived[0];
    return cached ? model.onlyFromCache : model.onlyFresh;
  }
  return arrived.map((task) => (task.cached ? task.model.fromCache : task.model.fresh));
}

/** The first of the queues to have room again. */
function retryAfterNs(tasks: readonly Task[]): number {
  let soonestNs = Infinity;
  for (const { failure } of tasks) soonestNs = Math.min(soonestNs, failure?.retryAfterNs ?? Infinity);
  return soonestNs === Infinity ? 0 : soonestNs;
}

/** The reason that says most: a model that was still at work at the deadline before one that failed before it. */
function reasonOf(live: LiveQuery, arrived: number): DefaultReason {
  if (arrived > 0) return 'low_confidence';
  if (live.selection.arms.length === 0) return 'no_linked_model';
  let reason: DefaultReason = 'no_replica';
  for (const { failure, model } of live.tasks) {
    if (failure === undefined || failure.reason === 'expired') {
      // It has waited for the first replica of a module, which has not come.
      if (model.replicas.isUnheard) continue;
      return 'deadline';
    }
    if (failure.reason === 'model_error') reason = 'model_error';
    else if (failure.reason === 'overload' && reason !== 'model_error') reason = 'overload';
  }
  return reason;
}
