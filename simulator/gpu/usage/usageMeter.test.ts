import { describe, expect, it } from 'vitest';
import type { EngineState, LaunchRecord, ResidentGroup } from '../dispatch/index.js';
import { DEVICE_RESOURCES, SM_RESOURCES, type BlockWork } from '../timing/index.js';
import { UsageMeter } from './usageMeter.js';

const work: BlockWork = {
  sm: SM_RESOURCES.map((_, index) => index + 1),
  device: DEVICE_RESOURCES.map((_, index) => 10 * (index + 1)),
  chainCycles: 100,
  chainFixedNs: 0,
  warps: 4,
};

function group(
  launch: number,
  sms: number[],
  perSm: number,
  { remaining = 1, startNs = 0 } = {},
): ResidentGroup {
  const count = sms.length * perSm;
  const blocks = { sms, perSm, count, firstBlock: 0, numbers: undefined };
  return { id: launch, launch, work, ...blocks, startNs, parkedNs: 0, remaining, ratePerNs: 0.01 };
}

function engine(groups: ResidentGroup[], asOfNs = 0): EngineState {
  return { asOfNs, nextGroup: 9, groups, clockHz: 2e9, memoryClockHz: 3e9 };
}

function launches(...contexts: number[]): ReadonlyMap<number, LaunchRecord> {
  return new Map(contexts.map((context, index) => [index + 1, { context } as LaunchRecord]));
}

const everybody = (): boolean => true;

describe('UsageMeter', () => {
  it('adds up time by SM, warp and context', () => {
    const meter = new UsageMeter(launches(7, 8), 100);
    const first = group(1, [0, 1], 2, { startNs: 50 });
    meter.advance(110, engine([first]), 2);
    const second = group(2, [1, 2], 1, { startNs: 110 });
    const both = engine([first, second]);
    meter.advance(115, both, 3);
    // The first since counting began, 100.
    const meanwhile = meter.usage(both, [], everybody);
    expect(meanwhile.warpNs).toBe(16 * 15 + 8 * 5);
    expect(meter.usage(both, [], everybody)).toEqual(meanwhile);
    meter.leave(first, 1, 115);
    meter.leave(second, 0.5, 115);
    meter.advance(145, engine([]), 0);
    const usage = meter.usage(engine([]), [], everybody);
    expect(usage).toMatchObject({
      asOfNs: 145,
      smCycles: 90,
      busyNs: 15,
      smBusyNs: 2 * 10 + 3 * 5,
      blocks: 4,
    });
    expect(usage.warpNs).toBe(meanwhile.warpNs);
    expect(usage.contexts).toEqual([
      { context: 7, warpNs: 16 * 15 },
      { context: 8, warpNs: 8 * 5 },
    ]);
  });

  it('counts the work of blocks as far as they have come, and each block once', () => {
    const meter = new UsageMeter(launches(7), 0);
    const resident = group(1, [0, 1], 1, { remaining: 0.75 });
    meter.advance(10, engine([resident]), 2);
    // A quarter of each of two blocks when the engine looked last, and a tenth since.
    const meanwhile = meter.usage(engine([resident], 0), [], everybody);
    expect(meanwhile.sm[0]).toBeCloseTo(2 * 0.35);
    expect(meanwhile.device[1]).toBeCloseTo(2 * 0.35 * 20);
    expect(meanwhile.blocks).toBe(0);
    meter.leave(resident, 1, 10);
    meter.leave(group(1, [3], 1), 0.5, 10);
    const { sm, device, blocks } = meter.usage(engine([]), [], everybody);
    expect(sm[2]).toBeCloseTo(3 * 2.5);
    expect(device[0]).toBeCloseTo(10 * 2.5);
    expect(blocks).toBe(2);
  });

  it('counts blocks that have lost their turn as far as they came, and not the time off the SMs', () => {
    const meter = new UsageMeter(launches(7), 0);
    const off = group(1, [0, 1], 1, { remaining: 0.6 });
    meter.advance(50, engine([]), 0);
    const parked = [{ sinceNs: 20, groups: [off] }];
    const meanwhile = meter.usage(engine([]), parked, everybody);
    expect(meanwhile.warpNs).toBe(20 * 8);
    expect(meanwhile.sm[0]).toBeCloseTo(2 * 0.4);
    off.parkedNs = 30;
    expect(meter.usage(engine([off], 50), [], everybody)).toEqual(meanwhile);
  });

  it('never counts a block for more than one, nor time twice', () => {
    const meter = new UsageMeter(launches(7), 0);
    const late = engine([group(1, [0], 1, { remaining: 0.1 })]);
    meter.advance(1000, late, 1);
    meter.advance(1000, late, 1);
    meter.advance(500, late, 1);
    const usage = meter.usage(late, [], everybody);
    expect(usage.sm[0]).toBe(1);
    expect(usage.busyNs).toBe(1000);
  });

  it('forgets contexts that are gone, and not what they did', () => {
    const meter = new UsageMeter(launches(7, 8), 0);
    meter.leave(group(1, [0], 1), 1, 10);
    meter.leave(group(2, [0], 1), 1, 20);
    const before = meter.usage(engine([]), [], everybody);
    const after = meter.usage(engine([]), [], (context) => context === 8);
    expect(after.contexts).toEqual([{ context: 8, warpNs: 80 }]);
    expect(after.warpNs).toBe(before.warpNs);
    expect(meter.usage(engine([]), [], everybody)).toEqual(after);
  });
});
