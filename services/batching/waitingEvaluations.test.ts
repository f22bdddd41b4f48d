import { describe, expect, it } from 'vitest';
import { MS, ReplicaParts, TestEvaluation } from './tests/replicaParts.js';

function suspect(expiresNs: number): TestEvaluation {
  const evaluation = new TestEvaluation(expiresNs);
  evaluation.mostTogether = 2;
  return evaluation;
}

describe('those who wait for one replica', () => {
  it('are as many as may wait, suspects and others together', () => {
    const { waiting } = new ReplicaParts({ most: 3 });
    waiting.push(suspect(MS));
    waiting.push(new TestEvaluation(MS));
    expect(waiting.isFull).toBe(false);
    waiting.push(new TestEvaluation(MS));
    expect(waiting).toMatchObject({ size: 3, isFull: true });
    expect(waiting.others.size).toBe(2);
    expect(waiting.lanes.size).toBe(1);
  });

  it('stand behind suspects, who have waited once, and leave in that order', () => {
    const { waiting } = new ReplicaParts();
    const others = [new TestEvaluation(2 * MS), new TestEvaluation(MS)];
    const before = suspect(9 * MS);
    for (const evaluation of [...others, before]) waiting.push(evaluation);
    expect(waiting.countBefore(new TestEvaluation(1.5 * MS))).toBe(2);
    expect(waiting.clear()).toEqual([before, others[1], others[0]]);
    expect(waiting.size).toBe(0);
  });

  it('end when nobody waits for them any more, each at its own time', () => {
    const { clock, waiting, told } = new ReplicaParts();
    const [first, second] = [new TestEvaluation(MS), new TestEvaluation(3 * MS)];
    waiting.push(second);
    waiting.push(first);
    waiting.armExpiry();
    clock.run(2 * MS);
    expect(first.outcomes).toHaveLength(1);
    expect(second.outcomes).toEqual([]);
    clock.run();
    expect(second.outcomes).toEqual(['expired: it waited in the queue until its deadline']);
    expect(told).toEqual(['expire', 'expire']);
  });
});
