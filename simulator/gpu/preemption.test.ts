import { describe, expect, it } from 'vitest';
import {
  QUIET_NS,
  SCHEDULING_POLICY_NAMES,
  schedulingPolicy,
  type SchedulingPolicy,
} from '../scheduling/index.js';
import type { PreemptionEvent } from './dispatch/index.js';
import { forkOf } from './tests/deviceFork.js';
import { H200, KnownDevice, blockOf, launchOf } from './tests/knownLaunches.js';

/** Blocks of some 500 us. */
const LONG = blockOf({ issue: 100 }, 1e6);
const SHORT = blockOf({ issue: 100 }, 2e4);
const IDEMPOTENT = { idempotent: true, of: 'launch' } as const;

const victim = launchOf(1056, LONG, { context: 1, launchClass: 'bestEffort', verdict: IDEMPOTENT });
const urgent = launchOf(1056, SHORT, { context: 2, launchClass: 'critical' });

function run(policy: SchedulingPolicy | string, atNs: readonly number[], best = victim) {
  const made = typeof policy === 'string' ? schedulingPolicy(policy) : policy;
  const device = new KnownDevice('shared', H200, made);
  const events: PreemptionEvent[] = [];
  device.gpu.observe({
    onBlocksLeave: () => undefined,
    onSettled: () => undefined,
    onPreempted: (event) => events.push(event),
  });
  const first = device.launchAt(0, best);
  const critical = atNs.map((ns) => device.launchAt(ns, urgent));
  device.finish();
  const waitNs = atNs.map((ns, index) => {
    const started = device.blocks.find(({ launch }) => launch === critical[index]);
    return (started?.startNs ?? NaN) - ns;
  });
  return { device, events, first, critical, waitNs, endNs: device.endsNs.get(first) ?? NaN };
}

describe('preemption of launches of known work', () => {
  it('ends every launch under every policy, all of its blocks reported', () => {
    for (const name of SCHEDULING_POLICY_NAMES) {
      const { device, first, critical } = run(name, [100_000, 300_000]);
      expect([name, device.endsNs.size]).toEqual([name, 3]);
      for (const launch of [first, ...critical]) {
        const blocks = device.blocks.filter((block) => block.launch === launch);
        expect(new Set(blocks.map(({ block }) => block)).size).toBe(1056);
      }
      const { use, launches, preemption } = device.gpu.state;
      expect(use.busySms).toBe(0);
      expect(use.registers.every((registers) => registers === 0)).toBe(true);
      expect(launches.size + preemption.saved.size + preemption.leaving.size).toBe(0);
    }
  });

  it('frees the SMs by a kill in its time, whatever the victim has left, and runs it again from the start', () => {
    const { waitNs, events, endNs, device } = run('killRestart', [100_000]);
    const alone = run('killRestart', []);
    expect(waitNs[0]).toBe(H200.timing.killNs);
    expect(events).toMatchObject([
      { kind: 'kill', launch: 1, decidedNs: 100_000, freeNs: 100_000 + H200.timing.killNs },
    ]);
    // All 1056 blocks were resident for 100 us.
    expect(events[0].wastedBlockNs).toBeCloseTo(1056 * 100_000, -3);
    expect(device.gpu.preemptions()).toMatchObject({ kills: 1, saves: 0, drains: 0, criticalLaunches: 1 });
    expect(endNs).toBeGreaterThan(alone.endNs + 100_000);
  });

  it('saves in a time that goes with what blocks hold, and goes on from there', () => {
    const { waitNs, events, endNs, critical, device } = run('contextSwitch', [100_000]);
    const alone = run('contextSwitch', []);
    const bytes = 1056 * (256 * 32 * 4 + 1024);
    const saveNs = H200.timing.saveNs + (bytes / H200.timing.saveBytesPerSecond) * 1e9;
    expect(events).toMatchObject([{ kind: 'save', contextBytes: bytes, wastedBlockNs: 0 }]);
    expect(waitNs[0]).toBeCloseTo(saveNs, 3);
    const urgentNs = (device.endsNs.get(critical[0]) ?? NaN) - 100_000;
    expect(endNs - alone.endNs).toBeCloseTo(urgentNs + 10_000 + saveNs, -1);
  });

  it('waits for blocks that drain', () => {
    const { waitNs, events, device, endNs } = run('drain', [100_000]);
    expect(events).toMatchObject([{ kind: 'drain', wastedBlockNs: 0 }]);
    expect(waitNs[0]).toBeCloseTo(endNs - 100_000, -1);
    expect(device.gpu.preemptions().drainNs).toBeCloseTo(endNs - 100_000, -1);
  });

  it('spans 4 to 98 us for saves of nothing and of everything', () => {
    const { limits, sms, timing } = H200;
    const all = sms * (limits.registersPerSm * 4 + limits.sharedPerSmBytes);
    expect(timing.saveNs).toBe(4_000);
    expect(timing.saveNs + (all / timing.saveBytesPerSecond) * 1e9).toBeCloseTo(98_000, -3);
  });

  it('lets a launch finish that was killed often', () => {
    const times = Array.from({ length: 12 }, (_, index) => 100_000 + index * 150_000);
    const { device, endNs } = run('killRestart', times);
    expect(device.gpu.preemptions().kills).toBe(3);
    expect(Number.isFinite(endNs)).toBe(true);
  });

  it('runs only what had not ended again, where the policy says so', () => {
    // Two waves; killed in the second.
    const waves = { ...victim, ...launchOf(2112, LONG, { context: 1 }), launchClass: 'bestEffort' as const };
    const best = { ...waves, verdict: IDEMPOTENT };
    const unfinished = run(killer('unfinished'), [600_000], best);
    const all = run(killer('all'), [600_000], best);
    expect(all.endNs - unfinished.endNs).toBeCloseTo(500_000, -5);
    const counted = (device: KnownDevice) =>
      device.blocks.filter(({ launch, block }) => launch === 1 && block < 1056).length;
    expect([counted(unfinished.device), counted(all.device)]).toEqual([1056, 2112]);
  });

  it('refuses to kill what is not proved idempotent, and what policies decide of launches that are not there', () => {
    const { verdict, ...unproved } = victim;
    expect(verdict).toBe(IDEMPOTENT);
    expect(() => run(killer('all'), [100_000], unproved)).toThrow(
      /must not be killed: it is not proved idempotent \(nobody asked\); save or drain it/,
    );
    const lost: SchedulingPolicy = { ...killer('all'), decide: () => ({ kind: 'save', launch: 99 }) };
    expect(() => run(lost, [])).toThrow(/chose launch 99, which is not there/);
  });

  it('goes on in a copy as in the original, from the middle of each move', () => {
    for (const name of ['killRestart', 'contextSwitch', 'timeSlice', 'drain']) {
      const best = launchOf(2112, LONG, { context: 1, launchClass: 'bestEffort', verdict: IDEMPOTENT });
      for (const stopNs of [100_500, 130_000, 2_060_000]) {
        const device = new KnownDevice('shared', H200, schedulingPolicy(name));
        device.launchAt(0, best);
        device.launchAt(100_000, urgent);
        device.clock.run(stopNs);
        const told = device.blocks.length;
        const copy = forkOf(device, schedulingPolicy(name));
        copy.clock.run();
        device.finish();
        expect(copy.blocks).toEqual(device.blocks.slice(told));
        copy.gpu.save();
        device.gpu.save();
        expect(copy.gpu.state).toEqual(device.gpu.state);
      }
    }
  });

  it('decides again of a launch that is waited for when it turns out to be idempotent', () => {
    const device = new KnownDevice('shared', H200, schedulingPolicy('killRestart'));
    const pending = { idempotent: false, of: 'launch', cause: 'pending' } as const;
    device.launchAt(0, { ...victim, command: 7, verdict: pending });
    device.launchAt(470_000, urgent);
    device.clock.run(480_000);
    expect([...device.gpu.state.launches.values()][0].drainSinceNs).toBe(470_000);
    device.gpu.giveVerdict(7, IDEMPOTENT);
    device.clock.run(482_000);
    expect(device.gpu.preemptions()).toMatchObject({ kills: 1, saves: 0, drains: 0, killNs: 1_000 });
    device.finish();
    expect(device.endsNs.size).toBe(2);
  });

  it('starts a launch at once that comes long after the last urgent one, and soon after it only when it has been quiet', () => {
    const startNs = (afterNs: number): number => {
      const device = new KnownDevice('shared', H200, schedulingPolicy('killRestart'));
      device.launchAt(0, urgent);
      const urgentEndNs = device.finish();
      const id = device.launchAt(urgentEndNs + afterNs, victim);
      device.finish();
      return (
        Math.min(...device.blocks.filter(({ launch }) => launch === id).map((run) => run.startNs)) -
        urgentEndNs
      );
    };
    expect(startNs(1e6)).toBeCloseTo(1e6, 3);
    expect(startNs(4_000)).toBeCloseTo(QUIET_NS, 3);
  });

  it('counts time on the SMs once, killed and saved blocks included', () => {
    for (const name of ['killRestart', 'contextSwitch']) {
      const { device } = run(name, [100_000]);
      const { contexts } = device.gpu.usage();
      const own = contexts.find(({ context }) => context === 1)?.warpNs ?? NaN;
      const alone = run(name, []).device.gpu.usage().contexts[0].warpNs;
      expect(own / alone).toBeCloseTo(name === 'killRestart' ? 1 + 100_000 / (alone / 8 / 1056) : 1, 1);
    }
  });
});

/** Kills whatever is of a lower class as soon as something critical is there. */
function killer(replay: 'all' | 'unfinished'): SchedulingPolicy {
  const inner = schedulingPolicy('killRestart');
  return {
    name: 'killer',
    preempts: true,
    mayKill: () => true,
    decide: (view) => {
      const decision = inner.decide(view);
      if (decision.kind !== 'dispatch' && decision.kind !== 'hold' && decision.kind !== 'restore') {
        return { kind: 'kill', launch: decision.launch, replay };
      }
      return decision;
    },
    snapshot: () => inner.snapshot(),
    restore: (state) => inner.restore(state),
  };
}
