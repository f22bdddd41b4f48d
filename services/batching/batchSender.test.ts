import { expect, it } from 'vitest';
import { MS, ReplicaParts, TestEvaluation } from './tests/replicaParts.js';

it('numbers batches and items, spends a credit on each batch, and says only what is not as always', () => {
  const { frames, sender } = new ReplicaParts();
  sender.send([new TestEvaluation(5 * MS), new TestEvaluation(7 * MS)], 4, MS);
  expect(frames).toEqual([
    {
      kind: 'predict',
      batchId: 1,
      items: [
        { id: 0, bytes: new Uint8Array(8), budgetNs: 4 * MS },
        { id: 1, bytes: new Uint8Array(8), budgetNs: 6 * MS },
      ],
    },
  ]);
  sender.send([new TestEvaluation(5 * MS, 'critical')], 4, MS, 'limited');
  expect(frames[1]).toMatchObject({ batchId: 2, launchClass: 'critical', isSuspect: true });
  expect(sender).toMatchObject({ credits: 0, inFlight: { size: 2, items: 3 } });
  const batch = sender.inFlight.get(2);
  expect(batch).toMatchObject({ isLimited: true, isAlone: false, limit: 4, sentNs: MS, longestQueueNs: MS });
  if (batch !== undefined) sender.onAnswered(batch, 2 * MS, true);
  expect(sender).toMatchObject({ credits: 1, inFlight: { size: 1, items: 2 } });
});

it('lets nothing else in flight beside what may take the replica down', () => {
  const { inFlight, sender } = new ReplicaParts();
  const dangerous = new TestEvaluation(MS);
  dangerous.isDangerous = true;
  sender.send([dangerous], 4, 0, 'accused');
  expect(inFlight.isAlone).toBe(true);
});

it('tells the container of what nobody waits for, until it is closed', () => {
  const { frames, sender, told } = new ReplicaParts();
  const evaluations = [new TestEvaluation(MS), new TestEvaluation(MS)];
  sender.send(evaluations, 4, 0);
  sender.cancel(evaluations[1]);
  expect(frames.at(-1)).toEqual({ kind: 'cancel', batchId: 1, itemIds: [1] });
  sender.close('enough');
  sender.cancel(evaluations[0]);
  expect(frames).toHaveLength(2);
  expect(told).toEqual(['closed: enough']);
});
