import { describe, expect, it } from 'vitest';
import { schedulingPolicy, type DeviceView, type LaunchView } from './index.js';

function launch(id: number, change: Partial<LaunchView> = {}): LaunchView {
  return {
    id,
    context: 1,
    kernel: 'k',
    priority: 0,
    arrivedNs: id,
    lo: 0,
    hi: 10,
    next: 0,
    residentBlocks: 0,
    doneBlocks: 0,
    tpcMask: -1n,
    ...change,
  };
}

function view(launches: LaunchView[], fits: Record<number, number>): DeviceView {
  return { nowNs: 0, tpcs: 66, launches, fits: (id) => fits[id] ?? 0 };
}

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
