import { expect, it } from 'vitest';
import type { ReplicaQueue } from './replicaQueue.js';
import { RetiringReplicas } from './retiringReplicas.js';
import { TestEvaluation } from './tests/replicaParts.js';

/** A queue that ends when told. */
function queue() {
  const waiting = [new TestEvaluation(1)];
  const box = { end: (): void => undefined, waiting };
  const retire = (done: () => void) => {
    box.end = done;
    return waiting;
  };
  return { box, queue: { retire } as unknown as ReplicaQueue };
}

it('tells whoever waits for the end of one, and of all', () => {
  const retiring = new RetiringReplicas();
  const told: string[] = [];
  const [one, two] = [queue(), queue()];
  expect(retiring.begin(one.queue)).toBe(one.box.waiting);
  retiring.begin(two.queue);
  retiring.await(one.queue, () => told.push('one'));
  retiring.awaitAll(() => told.push('all'));
  expect([told, retiring.queues]).toEqual([[], [one.queue, two.queue]]);
  one.box.end();
  expect([told, retiring.queues]).toEqual([['one'], [two.queue]]);
  two.box.end();
  expect(told).toEqual(['one', 'all']);
});

it('tells at once where there is nothing to wait for', () => {
  const retiring = new RetiringReplicas();
  const told: string[] = [];
  retiring.await(queue().queue, () => told.push('one'));
  retiring.awaitAll(() => told.push('all'));
  expect(told).toEqual(['one', 'all']);
});
