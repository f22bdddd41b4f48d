import type { PriorityQueue } from './priorityQueue.js';
import type { Evaluation } from './evaluation.js';

export interface NextBatch {
  readonly evaluations: Evaluation[];
  /** Taken from the queue too: there is no time left for them. */
  readonly hopeless: readonly Evaluation[] | undefined;
}

/** Of whom nobody is made the batch. */
const NOBODY: Evaluation[] = [];

/**
 * Takes the most urgent evaluations that can still be in time. One that has less time left than a batch takes lately
 * would only make the others late too: under overload, earliest deadline first alone serves nothing but such ones. An
 * idle replica gets them all the same, so that a wrong expectation is put right by the next answer.
 * @param expectedNs what a batch may be expected to take
 * @param isDiverted takes out one that is to travel apart since it was queued.
 */
export function takeBatch(
  next: PriorityQueue,
  limit: number,
  nowNs: number,
  expectedNs: number,
  isIdle: boolean,
  isDiverted: (evaluation: Evaluation, nowNs: number) => boolean,
): NextBatch {
  const reachNs = nowNs + expectedNs;
  let evaluations: Evaluation[] = NOBODY;
  let hopeless: Evaluation[] | undefined;
  while (evaluations.length < limit) {
    const evaluation = next.pop();
    if (evaluation === undefined) break;
    if (isDiverted(evaluation, nowNs)) continue;
    if (evaluation.expiresNs > reachNs) {
      // A literal: pushing onto an empty array would reserve room for 17, in every batch of one.
      if (evaluations === NOBODY) evaluations = [evaluation];
      else evaluations.push(evaluation);
    } else {
      (hopeless ??= []).push(evaluation);
      next.giveTurnBack(evaluation);
    }
  }
  if (hopeless !== undefined && evaluations === NOBODY && isIdle) {
    evaluations = [];
    // From the end: those with the most time left.
    while (evaluations.length < limit) {
      const last = hopeless.at(-1);
      if (last === undefined || last.expiresNs <= nowNs) break;
      evaluations.push(last);
      hopeless.pop();
    }
  }
  return { evaluations, hopeless };
}
