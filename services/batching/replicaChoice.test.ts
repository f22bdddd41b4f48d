import { expect, it } from 'vitest';
import { ReplicaChoice } from './replicaChoice.js';
import type { ReplicaQueue } from './replicaQueue.js';
import { TestEvaluation } from './tests/replicaParts.js';

interface Shown {
  full?: boolean;
  backlog?: number;
  itemNs?: number | undefined;
  isOverdue?: boolean;
  lateNs?: number;
}

/** What a choice looks at in a replica. */
function replica({ full = false, backlog = 0, itemNs, isOverdue = false, lateNs = 0 }: Shown): ReplicaQueue {
  const forecast = { itemNs, batchNs: 0, isOverdue: () => isOverdue, lateByNs: () => lateNs };
  return { full, backlog, forecast } as unknown as ReplicaQueue;
}

function choice(...shown: Shown[]): ReplicaChoice {
  const made = new ReplicaChoice();
  made.queues.push(...shown.map(replica));
  return made;
}

const chosen = (of: ReplicaChoice): number => of.queues.indexOf(of.leastWait(0) as ReplicaQueue);

it('is the replica with the least work before it, by what each needs an item', () => {
  expect(
    chosen(choice({ backlog: 4, itemNs: 10 }, { backlog: 9, itemNs: 3 }, { backlog: 5, itemNs: 8 })),
  ).toBe(1);
  // One that has answered nothing is taken to be as fast as the others are.
  expect(chosen(choice({ backlog: 4, itemNs: 10 }, { backlog: 3 }))).toBe(1);
});

it('lets equals take turns', () => {
  const equals = choice({}, {}, {});
  expect([chosen(equals), chosen(equals), chosen(equals), chosen(equals)]).toEqual([1, 2, 0, 1]);
});

it('passes over one that may hang or has no room, while there is another', () => {
  expect(chosen(choice({ isOverdue: true, backlog: 1 }, { backlog: 900, itemNs: 1e6 }))).toBe(1);
  expect(chosen(choice({ full: true }, { isOverdue: true, backlog: 9 }))).toBe(1);
  expect(choice().leastWait(0)).toBeUndefined();
});

it('finds whoever can be in time and has room', () => {
  const some = choice({ lateNs: 5 }, { full: true, lateNs: -5 }, { lateNs: -1 });
  expect(some.inTime(new TestEvaluation(1), 0)).toBe(some.queues[2]);
  expect(some.remove(some.queues[2])).toBe(true);
  expect(some.inTime(new TestEvaluation(1), 0)).toBeUndefined();
  expect(some.remove(replica({}))).toBe(false);
});
