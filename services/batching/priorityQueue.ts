import { DeadlineHeap } from './deadlineHeap.js';
import type { Evaluation } from './evaluation.js';

export const PRIORITIES = [1, 2, 3, 4, 5] as const;
export const NORMAL_PRIORITY = 3;

/** By how much of its own budget a level moves an evaluation, for each level away from the normal one. */
const SHIFT_A_LEVEL = 0.25;
/** A level that others were preferred to so many times is next: none gets less than about this share of what is served. */
export const MOST_PASSED_OVER = 15;

/**
 * Those who wait for a replica: earliest deadline first within a level. Between levels the most urgent of each compete by
 * their deadlines, moved by up to half of what they had from their arrival: level 1 to earlier, level 5 to later. That
 * place is fixed, so a patient one is overtaken only by those who come soon after it; and whatever comes, a level is
 * passed over a bounded number of times. When an evaluation expires has nothing to do with its level.
 */
export class PriorityQueue {
  private readonly levels = PRIORITIES.map(() => new DeadlineHeap<Evaluation>());
  private readonly normal = this.levels[NORMAL_PRIORITY - 1];
  private readonly passedOver = PRIORITIES.map(() => 0);
  private waiting = 0;
  /** How often the level that was served last had been passed over. */
  private turnTaken = 0;
  /** The latest deadline that was ever queued: whoever is due later has everybody of the normal level before it. */
  private latestDeadlineNs = -Infinity;

  get size(): number {
    return this.waiting;
  }

  push(evaluation: Evaluation): void {
    this.levels[evaluation.priority - 1].push(evaluation);
    this.waiting += 1;
    if (evaluation.deadlineNs > this.latestDeadlineNs) this.latestDeadlineNs = evaluation.deadlineNs;
  }

  /** The one with the earliest deadline, whatever its level. */
  first(): Evaluation | undefined {
    if (this.normal.size === this.waiting) return this.normal.first();
    let first: Evaluation | undefined;
    for (const level of this.levels) {
      const head = level.first();
      if (head !== undefined && (first === undefined || head.deadlineNs < first.deadlineNs)) first = head;
    }
    return first;
  }

  /** Takes out the one whose turn it is. */
  pop(): Evaluation | undefined {
    if (this.normal.size === this.waiting) {
      const evaluation = this.normal.pop();
      if (evaluation !== undefined) this.waiting -= 1;
      return evaluation;
    }
    const chosen = this.nextLevel();
    this.turnTaken = this.passedOver[chosen];
    for (let level = 0; level < this.levels.length; level++) {
      this.passedOver[level] =
        level === chosen || this.levels[level].size === 0 ? 0 : this.passedOver[level] + 1;
    }
    this.waiting -= 1;
    return this.levels[chosen].pop();
  }

  /** What was just taken out is not served: its level has its turn again. */
  giveTurnBack({ priority }: Evaluation): void {
    if (this.normal.size !== this.waiting) this.passedOver[priority - 1] = this.turnTaken;
  }

  /** False when it does not wait here. */
  remove(evaluation: Evaluation): boolean {
    if (!this.levels[evaluation.priority - 1].remove(evaluation)) return false;
    this.waiting -= 1;
    return true;
  }

  /** Somebody more urgent wants it, too. */
  expedite(evaluation: Evaluation, deadlineNs: number, priority: number): void {
    const waits = priority < evaluation.priority && this.remove(evaluation);
    if (priority < evaluation.priority) evaluation.priority = priority;
    if (deadlineNs < evaluation.deadlineNs) {
      evaluation.deadlineNs = deadlineNs;
      this.levels[evaluation.priority - 1].expedite(evaluation);
    }
    if (waits) this.push(evaluation);
  }

  /** How many are served before an evaluation that comes now, if nobody comes after it. */
  countBefore(evaluation: Evaluation): number {
    const { waiting, levels } = this;
    const { deadlineNs, priority } = evaluation;
    if (priority === NORMAL_PRIORITY && this.normal.size === waiting) {
      return deadlineNs >= this.latestDeadlineNs ? waiting : this.normal.countDueBy(deadlineNs);
    }
    const budgetNs = deadlineNs - evaluation.enqueuedNs;
    const placeNs = deadlineNs + shiftOf(priority) * budgetNs;
    let before = 0;
    let own = 0;
    let levelsAfter = 0;
    for (let level = 0; level < levels.length; level++) {
      // What competes with this one mostly had as much time as it has.
      const count = levels[level].countDueBy(placeNs - shiftOf(level + 1) * budgetNs);
      before += count;
      if (level === priority - 1) own = count;
      else if (levels[level].size > count) levelsAfter += 1;
    }
    const turn = MOST_PASSED_OVER + 1;
    // Levels that come after it get their turns all the same, and so does its own.
    return Math.min(before + levelsAfter * Math.floor(before / turn), (own + 1) * turn - 1);
  }

  /** Takes all out: most urgent first. */
  clear(): Evaluation[] {
    this.waiting = 0;
    const all = this.levels.flatMap((level) => level.clear());
    return all.sort((a, b) => placeOf(a) - placeOf(b) || a.enqueuedNs - b.enqueuedNs || a.order - b.order);
  }

  private nextLevel(): number {
    let next = -1;
    let nextNs = Infinity;
    let longest = MOST_PASSED_OVER;
    for (let level = 0; level < this.levels.length; level++) {
      const head = this.levels[level].first();
      if (head === undefined) continue;
      if (this.passedOver[level] >= longest) {
        longest = this.passedOver[level] + 1;
        next = level;
        nextNs = -Infinity;
        continue;
      }
      const placeNs = placeOf(head);
      if (next >= 0 && placeNs >= nextNs) continue;
      next = level;
      nextNs = placeNs;
    }
    return next;
  }
}

function shiftOf(priority: number): number {
  return (priority - NORMAL_PRIORITY) * SHIFT_A_LEVEL;
}

function placeOf({ deadlineNs, enqueuedNs, priority }: Evaluation): number {
  return deadlineNs + shiftOf(priority) * (deadlineNs - enqueuedNs);
}
