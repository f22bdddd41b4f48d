import type { ItemResult, ResultFrame, ServiceParts } from '../../containers/protocol/index.js';
import type { PredictionFailure } from '../cache/index.js';
import { failEvaluation, type Evaluation } from './evaluation.js';
import type { Batch } from './inFlight.js';

/** Who hears what is wrong with a batch's results, and what becomes of suspects. */
export interface ResultListener {
  complain(message: string): void;
  /** Of an input that was suspected of spoiling batches, and of all in a batch that was asked in parts. */
  onOwnAnswer(evaluation: Evaluation, isOk: boolean): void;
}

export interface Delivery {
  readonly matched: number;
  readonly answered: number;
  readonly failed: number;
  /** Those that may be asked again, whoever may wait for them still. */
  readonly undecided: readonly Evaluation[];
  /** Why the first that failed did. */
  readonly failure: string | undefined;
}

/**
 * Matches results with items by their id: each item gets one answer, whatever the container sends.
 * @param calls that it took, where the container asks batches that fail again in parts: each that fails does so for its own sake, and with
 * 0 spoils nothing of others.
 */
export function deliverResults(
  batch: Batch,
  results: readonly ItemResult[],
  replica: string,
  calls: number | undefined,
  listener: ResultListener,
): Delivery {
  let answered = 0;
  let failed = 0;
  let failure: string | undefined;
  const undecided: Evaluation[] = [];
  let matched = 0;
  // Items leave the batch's array as they are answered: what is left has no answer.
  const open: (Evaluation | undefined)[] = batch.items;
  for (const result of results) {
    const evaluation = open[result.id];
    if (evaluation === undefined) {
      listener.complain(`answered item ${result.id} of batch ${batch.id}, which is not open`);
      continue;
    }
    open[result.id] = undefined;
    matched += 1;
    if (isUndecided(result)) {
      failure ??= `modelError: ${result.message}`;
      undecided.push(evaluation);
      continue;
    }
    const isOk = result.ok && typeof result.output === 'string';
    if (isOk) answered += 1;
    const tells = calls !== undefined && (isOk || calls > 0);
    if ((tells || evaluation.mostTogether !== Infinity) && (isOk || isOfModel(result)))
      listener.onOwnAnswer(evaluation, isOk);
    if (evaluation.state === 'done') continue;
    evaluation.state = 'done';
    if (isOk) {
      evaluation.onPrediction(result);
    } else {
      failed += 1;
      const reason = failureOf(result);
      failure ??= reason.message;
      evaluation.onFailure(reason);
    }
  }
  if (matched === open.length) return { matched, answered, failed, undecided, failure };
  const message = `container '${replica}' answered ${matched} of ${open.length} items of its batch`;
  listener.complain(`answered ${matched} of ${open.length} items of batch ${batch.id}`);
  for (const evaluation of open) {
    if (evaluation === undefined || evaluation.state === 'done') continue;
    failed += 1;
    failure ??= message;
    failEvaluation(evaluation, { reason: 'model_error', message });
  }
  return { matched, answered, failed, undecided, failure };
}

function isUndecided(result: ItemResult): result is Extract<ItemResult, { readonly ok: false }> {
  return !result.ok && result.code === 'undecided';
}

/** Not of somebody who has gone, or of an input that no model need be asked for. */
function isOfModel(result: ItemResult): boolean {
  return result.ok || (result.code !== 'cancelled' && result.code !== 'invalidInput');
}

/**
 * Why a whole batch failed, where it did so in one and the same way: a model that raises for one input raises for all that
 * share its batch. Undefined for a batch of one, and where anything tells its items apart.
 */
export function sharedFailure(results: readonly ItemResult[], size: number): string | undefined {
  if (size < 2 || results.length !== size) return undefined;
  const [first] = results;
  if (first.ok || (first.code !== 'modelError' && first.code !== 'kernelFault')) return undefined;
  for (const result of results) {
    if (result.ok || result.code !== first.code || result.message !== first.message) return undefined;
  }
  return `${first.code}: ${first.message}`;
}

/**
 * Why results cannot be matched with the items of a batch of `size`: one item is answered twice, or one that there is not
 * in place of one that there is. Nothing says then which of the outputs is whose. Undefined where they can: items may be left out,
 * and results may be too many.
 */
export function misnumbered(results: readonly ItemResult[], size: number): string | undefined {
  let at = 0;
  while (at < results.length && results[at].id === at) at += 1;
  if (at === results.length && at <= size) return undefined;
  const seen = new Set<number>();
  let stray: number | undefined;
  for (const { id } of results) {
    if (!(Number.isInteger(id) && id >= 0 && id < size)) stray ??= id;
    else if (seen.has(id)) return `two results for item ${id}`;
    else seen.add(id);
  }
  return stray === undefined || seen.size === size
    ? undefined
    : `a result for item ${stray}, and none for another`;
}

export interface ServiceTimes {
  readonly roundTripNs: number;
  /** As the container told it; the round trip where it told what cannot be one. */
  readonly serviceNs: number;
  /** As the container told them; undefined when it told none, or what cannot be parts of the service time. */
  readonly parts: ServiceParts | undefined;
  /** Without what the batch waited for batches before it. */
  readonly ownNs: number;
}

/** What a batch took, as far as its container can be believed. */
export function serviceTimes(
  frame: ResultFrame,
  roundTripNs: number,
  listener: ResultListener,
): ServiceTimes {
  let { serviceNs } = frame;
  if (!(serviceNs >= 0 && serviceNs < Infinity)) {
    listener.complain(
      `gave ${serviceNs} as service time of batch ${frame.batchId}: the round trip is taken instead`,
    );
    serviceNs = roundTripNs;
  }
  const parts = frame.parts !== undefined && areParts(frame.parts, serviceNs) ? frame.parts : undefined;
  return { roundTripNs, serviceNs, parts, ownNs: serviceNs - (parts?.waitNs ?? 0) };
}

function areParts({ waitNs, inputNs, outputNs }: ServiceParts, serviceNs: number): boolean {
  // A sum of floats that were rounded may be a little more.
  return waitNs >= 0 && inputNs >= 0 && outputNs >= 0 && waitNs + inputNs + outputNs <= serviceNs + 1;
}

/** Whether its time tells what an answer takes: not what a model took to give up, or to be asked several times. */
export function isTypicalAnswer({ calls, results }: ResultFrame, shared: string | undefined): boolean {
  return calls === undefined ? shared === undefined : calls < 2 && results.some(({ ok }) => ok);
}

function failureOf(result: ItemResult): PredictionFailure {
  if (result.ok) return { reason: 'model_error', message: 'the container gave an output that is no string' };
  if (result.code === 'cancelled') return { reason: 'expired', message: result.message };
  if (result.code === 'invalidInput') return { reason: 'invalid_input', message: result.message };
  return { reason: 'model_error', message: `${result.code}: ${result.message}` };
}
