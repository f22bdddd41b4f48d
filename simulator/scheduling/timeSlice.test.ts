import { describe, expect, it } from 'vitest';
import { schedulingPolicy } from './index.js';
import { launch, view } from './tests/views.js';

const first = launch(1, { context: 1 });
const second = launch(2, { context: 2 });
const SLICE_NS = 2_000_000;

describe('time slices', () => {
  it('keep the turn of a context whose next launch comes by itself', () => {
    const policy = schedulingPolicy('timeSlice');
    expect(policy.decide(view([first, second], { 1: 5, 2: 5 }))).toMatchObject({ launch: 1 });
    const comes = (context: number): boolean => context === 1;
    expect(policy.decide(view([second], { 2: 5 }, { nowNs: 1000, comes }))).toEqual({
      kind: 'hold',
      untilNs: SLICE_NS,
    });
    expect(policy.decide(view([second], { 2: 5 }, { nowNs: SLICE_NS, comes }))).toMatchObject({ launch: 2 });
  });

  it('pass on at once where nothing comes', () => {
    const policy = schedulingPolicy('timeSlice');
    policy.decide(view([first, second], { 1: 5, 2: 5 }));
    expect(policy.decide(view([second], { 2: 5 }, { nowNs: 1000 }))).toMatchObject({ launch: 2, blocks: 5 });
  });

  it('copy out what is on the SMs when the slice is over, and not before', () => {
    const policy = schedulingPolicy('timeSlice');
    const running = { ...first, next: 10, residentBlocks: 10 };
    policy.decide(view([first], { 1: 10 }));
    const at = (nowNs: number) => policy.decide(view([running, second], { 2: 5 }, { nowNs }));
    expect(at(SLICE_NS - 1)).toEqual({ kind: 'hold', untilNs: SLICE_NS });
    expect(at(SLICE_NS)).toEqual({ kind: 'save', launch: 1 });
  });

  it('go on in a copy with the turn that is under way', () => {
    const policy = schedulingPolicy('timeSlice');
    policy.decide(view([first, second], { 1: 5, 2: 5 }, { nowNs: 500 }));
    const copy = schedulingPolicy('timeSlice');
    copy.restore(policy.snapshot());
    const comes = (): boolean => true;
    expect(copy.decide(view([second], { 2: 5 }, { nowNs: 1000, comes }))).toEqual(
      policy.decide(view([second], { 2: 5 }, { nowNs: 1000, comes })),
    );
  });
});
