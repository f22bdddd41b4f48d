import fc from 'fast-check';
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
  const forecast = {
    itemNsAt: () => itemNs,
    meanSize: undefined,
    batchNs: 0,
    isOverdue: () => isOverdue,
    lateByNs: () => lateNs,
  };
  return { full, backlog, forecast, place: -1 } as unknown as ReplicaQueue;
}

function choice(...shown: Shown[]): ReplicaChoice {
  const made = new ReplicaChoice();
  for (const one of shown) made.add(replica(one));
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

/** A replica whose batches are overdue some while after they were sent. */
class Shifting {
  place = -1;
  full = false;
  backlog = 0;
  sentNs = 0;
  readonly forecast = {
    itemNs: undefined as number | undefined,
    itemNsAt: (): number | undefined => this.forecast.itemNs,
    meanSize: undefined,
    batchNs: 0,
    isOverdue: (nowNs: number, elsewhereNs: number): boolean => {
      const expectedNs = this.forecast.batchNs === 0 ? elsewhereNs : this.forecast.batchNs;
      return this.backlog > 0 && expectedNs > 0 && nowNs - this.sentNs > 4 * expectedNs;
    },
  };
}

/** By a look at all of them. */
function leastOfAll(all: readonly Shifting[], turn: number, nowNs: number): Shifting | undefined {
  const measured = all.flatMap(({ forecast: { itemNs } }) => itemNs ?? []);
  const meanNs = measured.length === 0 ? 1 : measured.reduce((sum, ns) => sum + ns, 0) / measured.length;
  const longestNs = Math.max(0, ...all.map(({ forecast }) => forecast.batchNs));
  const inTurn = all.map((_, step) => all[(turn + step) % all.length]);
  const idle = inTurn.find(({ backlog, full }) => backlog === 0 && !full);
  if (idle !== undefined) return idle;
  let best: Shifting | undefined;
  let bestNs = Infinity;
  for (const one of inTurn) {
    let waitNs = one.full ? Infinity : one.backlog * (one.forecast.itemNs ?? meanNs);
    if (one.forecast.isOverdue(nowNs, longestNs)) waitNs += 1e15;
    if (best === undefined || waitNs < bestNs) [best, bestNs] = [one, waitNs];
  }
  return best;
}

it('is the one that a look at all of them finds, whatever comes, answers, hangs and leaves', () => {
  const step = fc.record({
    what: fc.constantFrom('ask', 'ask', 'ask', 'answer', 'answer', 'fill', 'come', 'leave'),
    who: fc.nat(40),
    // Powers of two: sums of them are the same in any order.
    itemNs: fc.constantFrom(1, 2, 4, 8, 64),
    batchNs: fc.constantFrom(0, 8, 64),
    passedNs: fc.nat(40),
  });
  fc.assert(
    fc.property(fc.nat(30), fc.array(step, { maxLength: 300 }), (count, steps) => {
      const made = new ReplicaChoice();
      const all: Shifting[] = [];
      const come = (): void => {
        const one = new Shifting();
        all.push(one);
        made.add(one as unknown as ReplicaQueue);
      };
      for (let at = 0; at < count; at++) come();
      let [turn, nowNs] = [0, 0];
      for (const { what, who, itemNs, batchNs, passedNs } of steps) {
        nowNs += passedNs;
        const one = all.at(who % Math.max(all.length, 1));
        if (what === 'come' || one === undefined) {
          come();
          continue;
        }
        if (what === 'leave') {
          expect(made.remove(one as unknown as ReplicaQueue)).toBe(true);
          all.splice(all.indexOf(one), 1);
          continue;
        }
        if (what === 'ask') {
          turn = (turn + 1) % all.length;
          const found = made.leastWait(nowNs) as unknown as Shifting;
          expect(all.indexOf(found)).toBe(all.indexOf(leastOfAll(all, turn, nowNs) as Shifting));
          if (found.backlog === 0) found.sentNs = nowNs;
          found.backlog += 1 + (who % 3);
          made.onLoad(found as unknown as ReplicaQueue);
          continue;
        } else if (what === 'answer') {
          one.backlog = Math.max(0, one.backlog - 1 - (who % 4));
          one.full = false;
          one.forecast.itemNs = itemNs;
          one.forecast.batchNs = batchNs;
          one.sentNs = nowNs;
        } else {
          one.backlog += 1;
          one.full = true;
        }
        made.onLoad(one as unknown as ReplicaQueue);
      }
    }),
    { seed: 5, numRuns: 400 },
  );
});
