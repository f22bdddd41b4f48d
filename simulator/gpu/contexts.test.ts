import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { FifoPolicy, schedulingPolicy } from '../scheduling/index.js';
import { KnownDevice, H200, blockOf, launchOf } from './tests/knownLaunches.js';
import { GpuError } from './index.js';

/** 1056 blocks of it take some 5 ms, alone on the card. */
const LONG = blockOf({ issue: 5e6 }, 1000);

/** Launches a second of processes without MPS, each of which waits for a kernel before it launches the next. */
const measured = JSON.parse(
  readFileSync(new URL('reference/h200-processes.json', import.meta.url), 'utf8'),
) as Record<
  'compute alone' | 'compute, two processes',
  readonly { readonly launches_per_s: number; readonly median_us: number }[]
>;

describe('contexts', () => {
  it('run side by side when they share the card', () => {
    const device = new KnownDevice('shared');
    device.launchAt(0, launchOf(66, LONG, { context: 1 }));
    device.launchAt(0, launchOf(66, LONG, { context: 2 }));
    device.finish();
    const [first, second] = [...device.endsNs.values()];
    expect(second / first).toBeCloseTo(1, 3);
    expect(new Set(device.blocks.map(({ sm }) => sm)).size).toBe(132);
  });

  it('have the card in turn when it is sliced, for as long and with the pauses that were measured', () => {
    const alone = new KnownDevice('timeSliced');
    alone.launchAt(0, launchOf(1056, LONG));
    const aloneNs = alone.finish();

    const device = new KnownDevice('timeSliced');
    const busy: { fromNs: number; context: number }[] = [];
    let last = 0;
    device.gpu.observe({
      onBlocksLeave: () => undefined,
      onSettled: (nowNs) => {
        const { groups } = device.gpu.state.engine;
        const context = device.gpu.state.launches.get(groups[0]?.launch)?.context ?? 0;
        expect(new Set(groups.map(({ launch }) => launch)).size).toBeLessThan(2);
        if (context !== last) busy.push({ fromNs: nowNs, context });
        last = context;
      },
    });
    device.launchAt(0, launchOf(1056, LONG, { context: 1 }));
    device.launchAt(0, launchOf(1056, LONG, { context: 2 }));
    const endNs = device.finish();
    const { contextSliceNs, contextSwitchNs } = H200.timing;
    expect(busy.slice(0, 5).map(({ context }) => context)).toEqual([1, 0, 2, 0, 1]);
    // Stops of one context: 2.4 ms on the card, every 4.491 ms.
    expect(busy[4].fromNs - busy[1].fromNs).toBeCloseTo(contextSliceNs + 2 * contextSwitchNs, 0);
    const switches = busy.filter(({ context }) => context !== 0).length - 1;
    expect(endNs / (2 * aloneNs + switches * contextSwitchNs)).toBeCloseTo(1, 3);
  });

  it('have turns as long as they are given', () => {
    const shareAt = (sliceNs?: number): number => {
      const device = new KnownDevice('timeSliced');
      if (sliceNs !== undefined) device.gpu.contexts.giveSlice(1, sliceNs);
      device.launchAt(0, launchOf(1056, LONG, { context: 1 }));
      device.launchAt(0, launchOf(1056, LONG, { context: 2 }));
      device.finish();
      const [first, second] = [...device.endsNs.values()];
      return first / second;
    };
    expect(shareAt(10 * H200.timing.contextSliceNs)).toBeLessThan(0.9 * shareAt());
    const { gpu } = new KnownDevice('timeSliced');
    expect(() => gpu.contexts.giveSlice(1, 10)).toThrow('timeSliceNs: 10; a context');
    expect(() => gpu.contexts.giveSlice(1, NaN)).toThrow('timeSliceNs: NaN');
    expect(() => new KnownDevice('shared').gpu.contexts.giveSlice(1, 1e6)).toThrow('side by side');
    gpu.contexts.giveSlice(1, 1e6);
    gpu.contexts.forget(1);
    expect(gpu.state.turns?.slices.size).toBe(0);
  });

  it('give their turn away when they have nothing to run', () => {
    const device = new KnownDevice('timeSliced');
    const short = blockOf({ issue: 1000 }, 1000);
    device.launchAt(0, launchOf(132, short, { context: 1 }));
    device.launchAt(0, launchOf(132, short, { context: 2 }));
    expect(device.finish()).toBeLessThan(H200.timing.contextSwitchNs + 20_000);
  });

  it('keep their turn between two kernels of a stream', () => {
    const short = blockOf({ issue: 1000 }, 100_000);
    for (const policy of [new FifoPolicy(), schedulingPolicy('timeSlice')]) {
      const device = new KnownDevice(policy.name === 'fifo' ? 'timeSliced' : 'shared', H200, policy);
      const order: number[] = [];
      device.onEnd = (_launch, context) => {
        order.push(context);
        const next = order.filter((each) => each === context).length;
        if (next < 100) device.gpu.launch(launchOf(132, short, { context, leadNs: 1500 }));
      };
      device.launchAt(0, launchOf(132, short, { context: 1, leadNs: 1500 }));
      device.launchAt(0, launchOf(132, short, { context: 2, leadNs: 1500 }));
      device.finish();
      const turns = order.filter((context, index) => context !== order[index - 1]).length;
      // A slice holds some forty of 52 us.
      expect(order).toHaveLength(200);
      expect(turns).toBeGreaterThan(3);
      expect(turns).toBeLessThan(8);
    }
  });

  it('alternate as the card does where each waits for the host after every launch', () => {
    const [one, two] = measured['compute, two processes'];
    const alone = measured['compute alone'][0];
    const kernelNs = alone.median_us * 1000;
    const hostNs = 1e9 / alone.launches_per_s - kernelNs;
    const work = blockOf({ issue: 1000 }, (kernelNs * H200.clockHz) / 1e9);
    const device = new KnownDevice('timeSliced');
    const launch = (context: number): number => device.gpu.launch(launchOf(132, work, { context }));
    device.clock.attach('host', { onEvent: (_kind, context) => void launch(context as number) });
    device.onEnd = (_launch, context, nowNs) => {
      device.clock.schedule('host', nowNs + hostNs, 'launch', context);
    };
    launch(1);
    launch(2);
    device.clock.run(1e9);
    const perSecond = device.endsNs.size / 2;
    expect(perSecond / ((one.launches_per_s + two.launches_per_s) / 2)).toBeCloseTo(1, 1);
  });

  it('count warps only while they are on the SMs', () => {
    const device = new KnownDevice('timeSliced');
    device.launchAt(0, launchOf(132, LONG, { context: 1 }));
    device.launchAt(0, launchOf(132, LONG, { context: 2 }));
    const endNs = device.finish();
    const usage = device.gpu.usage();
    const perContext = usage.contexts.map(({ warpNs }) => warpNs / (132 * 8));
    expect(perContext[0] / perContext[1]).toBeCloseTo(1, 2);
    expect(perContext[0] + perContext[1]).toBeLessThan(endNs);
  });

  it('drop what they had parked when they are killed', () => {
    const device = new KnownDevice('timeSliced');
    device.launchAt(0, launchOf(1056, LONG, { context: 1 }));
    device.launchAt(0, launchOf(1056, LONG, { context: 2 }));
    device.clock.run(3e6);
    expect(device.gpu.state.turns?.parked.get(1)?.groups.length).toBeGreaterThan(0);
    device.gpu.killContext(1);
    device.finish();
    expect([...device.endsNs.keys()]).toEqual([2]);
    expect(Math.max(...device.gpu.state.use.blocks)).toBe(0);
  });
});

describe('shares of the SMs', () => {
  it.each([
    [75, 98],
    [50, 66],
    [25, 32],
    [10, 12],
    [1, 8],
  ])('%i %% are the %i SMs that they are on the card under MPS', (percentage, sms) => {
    const device = new KnownDevice();
    device.gpu.contexts.giveShare(1, percentage);
    device.launchAt(0, launchOf(2000, LONG));
    expect(new Set(device.gpu.state.engine.groups.flatMap((group) => group.sms)).size).toBe(0);
    device.finish();
    expect(new Set(device.blocks.map(({ sm }) => sm)).size).toBe(sms);
  });

  it('lie apart where there is room, within masks', () => {
    const device = new KnownDevice();
    device.gpu.contexts.giveShare(1, 50);
    device.gpu.contexts.giveShare(2, 50);
    device.launchAt(0, launchOf(500, LONG, { context: 1 }));
    device.launchAt(0, launchOf(500, LONG, { context: 2 }));
    device.finish();
    const of = (launch: number) => device.blocks.filter((run) => run.launch === launch).map(({ sm }) => sm);
    const first = new Set(of(1));
    expect(of(2).some((sm) => first.has(sm))).toBe(false);
  });

  it('refuse what is none, and cooperative launches that do not fit', () => {
    const device = new KnownDevice();
    expect(() => device.gpu.contexts.giveShare(1, 0)).toThrow(GpuError);
    expect(() => device.gpu.contexts.giveShare(1, 101)).toThrow('percentage: 101');
    device.gpu.contexts.giveShare(1, 25);
    expect(() => device.gpu.launch(launchOf(1056, LONG, { cooperative: true }))).toThrow('256 such blocks');
    device.gpu.contexts.giveShare(1, 100);
    device.launchAt(0, launchOf(1056, LONG, { cooperative: true }));
    device.finish();
    expect(device.endsNs.size).toBe(1);
  });
});
