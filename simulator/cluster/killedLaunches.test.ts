import { describe, expect, it } from 'vitest';
import type { LaunchReport } from '../driver/index.js';
import { VERDICT_COSTS } from '../idempotency/index.js';
import { SCHEDULING_POLICY_NAMES } from '../scheduling/index.js';
import { VirtualClock } from '../time/index.js';
import { Contended, ELEMENTS, SCALED, STRIDES, inputs } from './tests/killedKernel.js';
import { GpuNode } from './index.js';

/** Runs the victim, with urgent launches submitted so long after its own submission. */
function contended(scheduling: string, atNs: readonly number[], isInPlace = false): Contended {
  const run = new Contended({ scheduling }, isInPlace);
  run.startVictim();
  const startNs = run.clock.nowNs();
  for (const ns of atNs) {
    run.clock.run(startNs + ns);
    run.startUrgent();
  }
  return run;
}

const undisturbed = contended('fifo', []);
const untouched = undisturbed.output();
const alone = reportOf(undisturbed);

function reportOf(run: Contended): LaunchReport {
  const report = run.best.completions.find(({ op }) => op === 'launch')?.result?.launch;
  if (report === undefined) throw new Error('the victim has not completed');
  return report;
}

describe('launches that are killed', () => {
  it('leave the same bytes under every policy, and each completes once', () => {
    for (const scheduling of SCHEDULING_POLICY_NAMES) {
      const run = contended(scheduling, [20_000, 60_000]);
      expect([scheduling, Buffer.compare(run.output(), untouched)]).toEqual([scheduling, 0]);
      const launches = run.best.completions.filter(({ op }) => op === 'launch');
      expect(launches.map(({ failure }) => failure)).toEqual([undefined]);
    }
  });

  it('leave the same bytes when they are killed at seeded moments, twice and more', () => {
    let seed = 7;
    const draw = (most: number): number => {
      seed = (seed * 48271) % 2147483647;
      return seed % most;
    };
    const kills: number[] = [];
    for (let round = 0; round < 6; round++) {
      const first = 10_000 + draw(60_000);
      const run = contended('killRestart', [first, first + 60_000 + draw(60_000), first + 200_000]);
      expect(Buffer.compare(run.output(), untouched)).toBe(0);
      const report = reportOf(run);
      kills.push(report.kills ?? 0);
      expect(report.threadInstructions).toBe(alone.threadInstructions);
    }
    expect(Math.min(...kills)).toBeGreaterThan(0);
    expect(Math.max(...kills)).toBeGreaterThan(1);
  });

  it('keep the stores that had happened, and no other', () => {
    for (const share of [0.2, 0.5, 0.8]) {
      const run = new Contended({ scheduling: 'killRestart' });
      const ticket = run.startVictim();
      const startNs = run.clock.nowNs();
      run.clock.run(startNs + share * (alone.endNs - alone.startNs));
      run.startUrgent();
      let killed = false;
      run.node.device(0).observe({
        onBlocksLeave: (_, __, done) => (killed ||= done < 1),
        onSettled: () => undefined,
      });
      while (!killed && run.clock.step());
      const stored = run.elements().reduce((count, value) => count + (value === 0 ? 0 : 1), 0);
      expect(stored / ELEMENTS).toBeGreaterThan(share - 0.15);
      expect(stored / ELEMENTS).toBeLessThan(share + 0.15);
      expect(Buffer.compare(run.output(), untouched)).toBe(0);
      expect(run.best.find(ticket)?.result?.launch?.kills).toBe(1);
    }
  });

  it('are saved or drained where they write what they read', () => {
    const run = contended('killRestart', [20_000], true);
    run.output();
    const { kills, saves, drains } = run.node.reading(0).preemptions;
    expect([kills, saves + drains]).toEqual([0, 1]);
    expect(run.node.verdictMetrics()?.refused).toEqual({ SO: 1 });
  });

  it('cost the host a verdict each, and none where nothing is killed', () => {
    const launched = (scheduling: string): number => {
      const run = new Contended({ scheduling });
      const beforeNs = run.clock.nowNs();
      const ticket = run.startVictim();
      while (run.best.find(ticket) === undefined && run.clock.step());
      return (run.best.find(ticket)?.result?.launch?.startNs ?? NaN) - beforeNs;
    };
    expect(launched('killRestart') - launched('fifo')).toBeCloseTo(VERDICT_COSTS.launchNs, 3);
    expect(launched('drain')).toBe(launched('fifo'));
  });

  it('go on in a fork and in a restored snapshot, to the same hash', () => {
    const run = contended('killRestart', [30_000]);
    run.clock.run(run.clock.nowNs() + 12_000);
    expect(run.node.snapshot().devices[0].preemption.totals.kills).toBe(1);
    const clock = new VirtualClock();
    clock.advanceTo(run.clock.nowNs());
    const fork = run.node.fork(clock);
    expect(fork.hash()).toBe(run.node.hash());
    const snapshot = run.node.snapshot();
    run.clock.run();
    clock.run();
    expect(fork.hash()).toBe(run.node.hash());
    const again = new VirtualClock();
    again.advanceTo(snapshot.nowNs);
    const restored = GpuNode.restore(
      again,
      { gpus: ['h200'], backingBytes: 64 * 2 ** 20, scheduling: 'killRestart' },
      snapshot,
    );
    again.run();
    expect(restored.hash()).toBe(run.node.hash());
  });
});

describe('memory of a killed launch', () => {
  /** Overwrites the victim's input from another stream once it has been killed. */
  function overwritten(holdsKilled: boolean, isFreed: boolean): { output: Uint8Array; order: string[] } {
    const run = new Contended({ scheduling: 'killRestart', holdsKilled });
    const stream = run.best.handle('streamCreate', { priority: 0, nonBlocking: true });
    run.startVictim();
    const startNs = run.clock.nowNs();
    run.clock.run(startNs + 30_000);
    run.startUrgent();
    while (run.node.reading(0).preemptions.kills === 0 && run.clock.step());
    run.best.send('memcpyHostToDevice', { address: run.from, bytes: inputs(5e6), pinned: true }, stream);
    if (isFreed) run.best.send('freeAsync', { address: run.from }, stream);
    const output = run.output();
    const order = run.best.completions
      .map(({ op }) => op)
      .filter((op) => op === 'launch' || op === 'memcpyHostToDevice' || op === 'freeAsync');
    return { output, order: order.slice(1) };
  }

  it('is held against copies and frees of other streams until it has completed', () => {
    const { output, order } = overwritten(true, true);
    expect(order).toEqual(['launch', 'memcpyHostToDevice', 'freeAsync']);
    expect(Buffer.compare(output, untouched)).toBe(0);
  });

  it('is not what it was where nothing holds it: the hold is needed', () => {
    const { output } = overwritten(false, false);
    expect(Buffer.compare(output, untouched)).not.toBe(0);
    expect(() => overwritten(false, true)).toThrow(/nothing is mapped/);
  });

  it('is held where it is a constant, too, which nobody but the host writes', () => {
    const scaled = (holdsKilled: boolean): Uint8Array => {
      const run = new Contended({ scheduling: 'killRestart', holdsKilled }, false, SCALED);
      const stream = run.best.handle('streamCreate', { priority: 0, nonBlocking: true });
      run.startVictim();
      run.clock.run(run.clock.nowNs() + 30_000);
      run.startUrgent();
      while (run.node.reading(0).preemptions.kills === 0 && run.clock.step());
      expect(run.node.reading(0).preemptions.kills).toBe(1);
      const bytes = new Uint8Array(new Float32Array([3]).buffer);
      run.best.send('memcpyHostToDevice', { address: run.factor, bytes, pinned: true }, stream);
      return run.output();
    };
    expect(Buffer.compare(scaled(true), untouched)).toBe(0);
    expect(Buffer.compare(scaled(false), untouched)).not.toBe(0);
  });

  it('keeps a launch from being killed while a copy beside it touches the same', () => {
    const run = new Contended({ scheduling: 'killRestart' });
    const stream = run.best.handle('streamCreate', { priority: 0, nonBlocking: true });
    run.startVictim();
    run.clock.run(run.clock.nowNs() + 20_000);
    run.best.send('memcpyHostToDevice', { address: run.from, bytes: inputs(1), pinned: true }, stream);
    run.clock.run(run.clock.nowNs() + 10_000);
    run.startUrgent();
    expect(Buffer.compare(run.output(), untouched)).toBe(0);
    expect(run.node.reading(0).preemptions.kills).toBe(0);
  });
});

describe('classes of launches', () => {
  it('come from the launch, else its stream, else its context; others are refused by name', () => {
    const run = new Contended({});
    const { best } = run;
    const stream = best.handle('streamCreate', { priority: 0, launchClass: 'critical' });
    const classOf = (): string[] =>
      [...run.node.device(0).state.launches.values()].map(({ launchClass }) => `${launchClass}`);
    const start = (on: number, controls = {}): string => {
      const { clock } = run;
      const args = { ...launchOfStrides(run), controls };
      best.send('launch', args, on);
      while (classOf().length === 0 && clock.step());
      const [found] = classOf();
      clock.run();
      return found;
    };
    expect(start(0)).toBe('bestEffort');
    expect(start(stream)).toBe('critical');
    expect(start(stream, { launchClass: 'standard' })).toBe('standard');
    const refused = best.call('launch', {
      ...launchOfStrides(run),
      controls: { launchClass: 'urgent' as never },
    });
    expect(refused.failure?.message).toBe(
      `controls.launchClass: "urgent" is no class of launches; there are: critical, standard, bestEffort`,
    );
    const context = best.call('contextCreate', { gpu: 0, launchClass: 7 as never });
    expect(context.failure?.message).toMatch(/launchClass: 7 is no class/);
  });

  it('goes with one way of sharing only', () => {
    expect(() => new Contended({ scheduling: 'killRestart', contexts: 'timeSliced' })).toThrow(
      /'killRestart' takes launches off the SMs itself; it goes with contexts 'shared'/,
    );
  });
});

function launchOfStrides(run: Contended) {
  return {
    module: run.best.handle('moduleLoad', { ptx: STRIDES, file: 'strides.ptx' }),
    kernel: 'strides',
    grid: [1, 1, 1] as const,
    block: [64, 1, 1] as const,
    dynamicSharedBytes: 0,
    params: new Uint8Array(20),
  };
}
