import { describe, expect, it } from 'vitest';
import { schedulingPolicy } from './index.js';
import { launch, view } from './tests/views.js';

describe('fifo', () => {
  const policy = schedulingPolicy('fifo');

  it('takes the oldest of the highest priority', () => {
    const launches = [launch(1), launch(2, { priority: 5 }), launch(3, { priority: 5 })];
    expect(policy.decide(view(launches, { 1: 9, 2: 9, 3: 9 }))).toEqual({
      kind: 'dispatch',
      launch: 2,
      blocks: 9,
    });
  });

  it('goes on to the next when the first has no blocks left', () => {
    const launches = [launch(1, { next: 10 }), launch(2)];
    expect(policy.decide(view(launches, { 2: 4 }))).toEqual({ kind: 'dispatch', launch: 2, blocks: 4 });
  });

  it('holds those behind a launch that waits for room, except on other TPCs', () => {
    expect(policy.decide(view([launch(1), launch(2)], { 2: 4 }))).toEqual({ kind: 'hold' });
    const apart = [launch(1, { tpcMask: 0b01n }), launch(2, { tpcMask: 0b10n })];
    expect(policy.decide(view(apart, { 2: 4 }))).toEqual({ kind: 'dispatch', launch: 2, blocks: 4 });
  });

  it('is known by its name and others are refused', () => {
    expect(() => schedulingPolicy('lottery')).toThrow(/no scheduling policy 'lottery'; there are: fifo/);
  });
});
