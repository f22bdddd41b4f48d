import { LAUNCH_CLASSES, type LaunchClass } from '../../containers/protocol/index.js';
import type { Evaluation } from './evaluation.js';
import { PriorityQueue } from './priorityQueue.js';

/** Of queries whose application and model say nothing. */
export const DEFAULT_CLASS: LaunchClass = 'standard';

/** Whether kernels of the one may take the GPU from those of the other. */
export function isAbove(one: LaunchClass, other: LaunchClass): boolean {
  return LAUNCH_CLASSES.indexOf(one) < LAUNCH_CLASSES.indexOf(other);
}

/**
 * Those who wait for a replica, by the class of launches that their batch is to have: a batch is of one class, and a lower class
 * has its turn when nobody of a higher one waits. Within a class the order is that of a `PriorityQueue`.
 */
export class ClassQueue {
  /** Highest first. Most replicas only ever see one class. */
  private readonly classes = LAUNCH_CLASSES.map(() => new PriorityQueue());
  private front = 0;

  get size(): number {
    let size = 0;
    for (const queue of this.classes) size += queue.size;
    return size;
  }

  /** The class whose turn it is; of nobody when nobody waits. */
  get nextClass(): LaunchClass {
    this.forward();
    return LAUNCH_CLASSES[this.front];
  }

  /** Those of the class whose turn it is. */
  get next(): PriorityQueue {
    this.forward();
    return this.classes[this.front];
  }

  push(evaluation: Evaluation): void {
    const place = placeOf(evaluation.launchClass);
    if (place < this.front) this.front = place;
    this.classes[place].push(evaluation);
  }

  /** The one with the earliest deadline, whatever its class and level. */
  first(): Evaluation | undefined {
    let first: Evaluation | undefined;
    for (const queue of this.classes) {
      const head = queue.size === 0 ? undefined : queue.first();
      if (head !== undefined && (first === undefined || head.deadlineNs < first.deadlineNs)) first = head;
    }
    return first;
  }

  /** False when it does not wait here. */
  remove(evaluation: Evaluation): boolean {
    return this.classes[placeOf(evaluation.launchClass)].remove(evaluation);
  }

  /** Somebody more urgent wants it, too, or somebody who waits longer, or of a higher class; whether it waits here or not. */
  extend(
    evaluation: Evaluation,
    deadlineNs: number,
    expiresNs: number,
    priority: number,
    launchClass: LaunchClass,
  ): void {
    if (expiresNs > evaluation.expiresNs) evaluation.expiresNs = expiresNs;
    const rises = isAbove(launchClass, evaluation.launchClass);
    const waits = rises && this.remove(evaluation);
    if (rises) evaluation.launchClass = launchClass;
    this.classes[placeOf(evaluation.launchClass)].expedite(evaluation, deadlineNs, priority);
    if (waits) this.push(evaluation);
  }

  /** How many are served before an evaluation that comes now, if nobody comes after it. */
  countBefore(evaluation: Evaluation): number {
    const place = placeOf(evaluation.launchClass);
    let before = this.classes[place].countBefore(evaluation);
    for (let above = 0; above < place; above++) before += this.classes[above].size;
    return before;
  }

  /** Takes all out: the highest class first, and the most urgent of each. */
  clear(): Evaluation[] {
    return this.classes.flatMap((queue) => queue.clear());
  }

  private forward(): void {
    const last = this.classes.length - 1;
    while (this.front < last && this.classes[this.front].size === 0) this.front += 1;
  }
}

function placeOf(launchClass: LaunchClass): number {
  return LAUNCH_CLASSES.indexOf(launchClass);
}
