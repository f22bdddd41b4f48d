import { describe, expect, it } from 'vitest';
import { MOST_KILLS, QUIET_NS, schedulingPolicy } from './index.js';
import { launch, view } from './tests/views.js';

const critical = launch(2, { launchClass: 'critical', hi: 4 });
const victim = launch(1, {
  launchClass: 'bestEffort',
  next: 8,
  residentBlocks: 8,
  verdict: { idempotent: true, of: 'launch' },
});

describe('preemptive policies', () => {
  it('leave launches of a lower class alone while there is room', () => {
    const policy = schedulingPolicy('killRestart');
    expect(policy.decide(view([victim, critical], { 2: 4 }))).toEqual({
      kind: 'dispatch',
      launch: 2,
      blocks: 4,
    });
  });

  it('kill what is proved idempotent, unless it ends sooner or was killed often', () => {
    const policy = (name = 'killRestart') => schedulingPolicy(name);
    const both = [victim, critical];
    const free = { costs: { canKill: true } };
    expect(policy().decide(view(both, {}, free))).toEqual({ kind: 'kill', launch: 1 });
    expect(policy().decide(view(both, {}, { costs: { canKill: true, drainNs: 900 } })).kind).toBe('drain');
    const often = { ...victim, kills: MOST_KILLS };
    expect(policy().decide(view([often, critical], {}, free)).kind).toBe('save');
    expect(policy('klevel').decide(view(both, {}, free)).kind).toBe('save');
    const byKernel = { ...victim, verdict: { idempotent: true, of: 'kernel' as const } };
    expect(policy('klevel').decide(view([byKernel, critical], {}, free)).kind).toBe('kill');
  });

  it('take the cheaper of switching and waiting for the others', () => {
    const both = [victim, critical];
    expect(schedulingPolicy('killRestart').decide(view(both, {}, {})).kind).toBe('save');
    const soon = { costs: { drainNs: 5_000 } };
    expect(schedulingPolicy('killRestart').decide(view(both, {}, soon)).kind).toBe('drain');
    expect(schedulingPolicy('contextSwitch').decide(view(both, {}, soon)).kind).toBe('save');
    expect(schedulingPolicy('drain').decide(view(both, {}, {})).kind).toBe('drain');
  });

  it('say once that they wait, and give no block of a lower class meanwhile', () => {
    const policy = schedulingPolicy('drain');
    expect(policy.decide(view([victim, critical], { 1: 2 }))).toEqual({ kind: 'drain', launch: 1 });
    const drained = { ...victim, drainSinceNs: 0 };
    expect(policy.decide(view([drained, critical], { 1: 2 }))).toEqual({ kind: 'hold' });
  });

  it('start nothing of a lower class right behind an urgent launch', () => {
    const policy = schedulingPolicy('killRestart');
    policy.decide(view([victim, critical], { 2: 4 }, { nowNs: 5_000 }));
    expect(policy.decide(view([victim], { 1: 2 }, { nowNs: 7_000 }))).toEqual({
      kind: 'hold',
      untilNs: 7_000 + QUIET_NS,
    });
    expect(policy.decide(view([victim], { 1: 2 }, { nowNs: 7_000 + QUIET_NS })).kind).toBe('dispatch');
  });

  it('go on after a copy where the original was', () => {
    const policy = schedulingPolicy('drain');
    policy.decide(view([victim, critical], { 2: 4 }));
    const copy = schedulingPolicy('drain');
    copy.restore(policy.snapshot());
    expect(copy.decide(view([victim], { 1: 2 }))).toEqual({ kind: 'hold', untilNs: QUIET_NS });
  });

  it('bring back what was saved before anything new starts', () => {
    const saved = launch(1, { launchClass: 'bestEffort', next: 8, savedBlocks: 8 });
    expect(schedulingPolicy('contextSwitch').decide(view([saved], { 1: 2 }))).toEqual({
      kind: 'restore',
      launch: 1,
    });
  });

  it('preempt nobody of the same class, nor of none', () => {
    for (const name of ['drain', 'contextSwitch', 'killRestart', 'klevel']) {
      const full = [{ ...victim, launchClass: undefined }, launch(2)];
      expect(schedulingPolicy(name).decide(view(full, {}, { costs: { canKill: true } }))).toEqual({
        kind: 'hold',
      });
    }
  });
});

describe('priority', () => {
  const policy = schedulingPolicy('priority');

  it('chooses the next launch by class, then priority', () => {
    const some = [launch(1), launch(2, { launchClass: 'critical' }), launch(3, { priority: 9 })];
    expect(policy.decide(view(some, { 1: 9, 2: 9, 3: 9 }))).toMatchObject({ launch: 2 });
  });

  it('lets a launch that has begun give all its blocks', () => {
    const some = [launch(1, { next: 5 }), launch(2, { launchClass: 'critical' })];
    expect(policy.decide(view(some, { 1: 5, 2: 9 }))).toMatchObject({ launch: 1 });
  });
});

describe('timeSlice', () => {
  it('gives each context its slice and copies out what the others have on the SMs', () => {
    const policy = schedulingPolicy('timeSlice');
    const [first, second] = [launch(1, { context: 1 }), launch(2, { context: 2 })];
    expect(policy.decide(view([first, second], { 1: 10, 2: 10 }))).toMatchObject({ launch: 1 });
    const running = { ...first, next: 10, residentBlocks: 10 };
    const held = policy.decide(view([running, second], {}, { nowNs: 10 }));
    expect(held).toMatchObject({ kind: 'hold' });
    const overNs = held.kind === 'hold' ? (held.untilNs ?? 0) : 0;
    expect(overNs).toBeGreaterThan(1e6);
    expect(policy.decide(view([running, second], {}, { nowNs: overNs }))).toEqual({
      kind: 'save',
      launch: 1,
    });
  });
});
