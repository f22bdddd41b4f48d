import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Evaluation } from './evaluation.js';
import { MOST_PASSED_OVER, PRIORITIES, PriorityQueue } from './priorityQueue.js';

class Waiting extends Evaluation {
  constructor(priority: number, enqueuedNs: number, deadlineNs: number) {
    super(
      new Uint8Array(1),
      0,
      enqueuedNs,
      deadlineNs,
      deadlineNs,
      priority,
      'standard',
      undefined,
      undefined,
    );
  }

  override collectTraces(): void {}
  override onPrediction(): void {}
  override onFailure(): void {}
}

function popAll(queue: PriorityQueue): Evaluation[] {
  const all: Evaluation[] = [];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) all.push(next);
  return all;
}

describe('a queue with priorities', () => {
  it('keeps first come, first served within a level, and puts an urgent one before its equals', () => {
    const queue = new PriorityQueue();
    const items = [3, 3, 5, 1, 3, 5, 1].map((priority) => new Waiting(priority, 0, 100));
    for (const item of items) queue.push(item);
    expect(popAll(queue).map((item) => items.indexOf(item as Waiting))).toEqual([3, 6, 0, 1, 4, 2, 5]);
    expect(queue.size).toBe(0);
  });

  it('moves nobody by more than half of what it had: a patient one is overtaken only by those who come soon after it', () => {
    const queue = new PriorityQueue();
    const patient = new Waiting(5, 0, 100);
    const soon = new Waiting(1, 90, 190);
    const late = new Waiting(1, 110, 210);
    for (const item of [late, patient, soon]) queue.push(item);
    expect(popAll(queue)).toEqual([soon, patient, late]);
  });

  it('goes by deadlines alone where all are of the normal level', () => {
    const deadlines = fc.array(fc.nat(1000), { maxLength: 60 });
    fc.assert(
      fc.property(deadlines, (list) => {
        const queue = new PriorityQueue();
        for (const deadlineNs of list) queue.push(new Waiting(3, 0, deadlineNs));
        expect(popAll(queue).map(({ deadlineNs }) => deadlineNs)).toEqual([...list].sort((a, b) => a - b));
      }),
    );
  });

  it('passes no level over more than a bounded number of times, whatever arrives', () => {
    const arrival = fc.record({
      priority: fc.constantFrom(...PRIORITIES),
      budgetNs: fc.integer({ min: 1, max: 1000 }),
      pops: fc.nat(2),
    });
    // Urgent ones above all.
    const flood = fc.record({ priority: fc.constant(1), budgetNs: fc.constant(10), pops: fc.constant(1) });
    const arrivals = fc.array(fc.oneof({ weight: 1, arbitrary: arrival }, { weight: 6, arbitrary: flood }), {
      maxLength: 400,
    });
    fc.assert(
      fc.property(arrivals, (list) => {
        const queue = new PriorityQueue();
        const waiting = new Map<number, number>(PRIORITIES.map((level) => [level, 0]));
        const passedOver = new Map<number, number>(PRIORITIES.map((level) => [level, 0]));
        let nowNs = 0;
        for (const { priority, budgetNs, pops } of list) {
          nowNs += 1;
          queue.push(new Waiting(priority, nowNs, nowNs + budgetNs));
          waiting.set(priority, (waiting.get(priority) ?? 0) + 1);
          for (let pop = 0; pop < pops; pop++) {
            const next = queue.pop();
            if (next === undefined) break;
            waiting.set(next.priority, (waiting.get(next.priority) ?? 0) - 1);
            for (const level of PRIORITIES) {
              const isPassed = level !== next.priority && (waiting.get(level) ?? 0) > 0;
              passedOver.set(level, isPassed ? (passedOver.get(level) ?? 0) + 1 : 0);
              // Others may be due in the same moment: one turn for each.
              expect(passedOver.get(level)).toBeLessThanOrEqual(MOST_PASSED_OVER + PRIORITIES.length - 1);
            }
          }
        }
        expect(queue.size).toBe([...waiting.values()].reduce((sum, count) => sum + count, 0));
      }),
    );
  });

  it('counts exactly who is served before an evaluation of the same budget that comes next', () => {
    const levels = fc.array(fc.constantFrom(...PRIORITIES), { maxLength: 14 });
    fc.assert(
      fc.property(levels, fc.constantFrom(...PRIORITIES), (list, priority) => {
        const queue = new PriorityQueue();
        for (const [at, level] of list.entries()) queue.push(new Waiting(level, at, at + 41));
        const next = new Waiting(priority, list.length, list.length + 41);
        const expected = queue.countBefore(next);
        queue.push(next);
        expect(popAll(queue).indexOf(next)).toBe(expected);
      }),
    );
  });

  it('takes one out, and moves one up for somebody more urgent', () => {
    const queue = new PriorityQueue();
    const [first, second, third] = [5, 4, 3].map((priority) => new Waiting(priority, 0, 100));
    for (const item of [first, second, third]) queue.push(item);
    expect(queue.remove(second)).toBe(true);
    expect(queue.remove(second)).toBe(false);
    queue.expedite(first, 100, 1);
    queue.expedite(third, 90, 5);
    expect(third.priority).toBe(3);
    expect(queue.first()).toBe(third);
    expect(queue.clear()).toEqual([first, third]);
    expect(queue.size).toBe(0);
  });
});
