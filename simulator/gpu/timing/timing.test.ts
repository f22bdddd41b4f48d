import { describe, expect, it } from 'vitest';
import { profileNamed } from '../profiles/index.js';
import { L1Cache } from './l1Cache.js';
import {
  DEVICE_RESOURCES,
  SM_RESOURCES,
  blockRates,
  capacities,
  fairShare,
  missShare,
  residentShare,
  touchSegments,
  type BlockWork,
  type L2State,
} from './index.js';

const h200 = profileNamed('h200');
const limits = capacities(h200, h200.clockHz);
const EXPONENT = 4;

function work(amounts: Partial<Record<string, number>>, chainCycles = 0): BlockWork {
  return {
    sm: SM_RESOURCES.map((name) => amounts[name] ?? 0),
    device: DEVICE_RESOURCES.map((name) => amounts[name] ?? 0),
    chainCycles,
    chainFixedNs: 0,
    warps: 8,
  };
}

describe('fair share', () => {
  it('leaves small wants alone and levels the large ones', () => {
    // 10 = 2 small ones of 1 and two large ones at 4.
    expect(fairShare(10, [2, 2], [1, 7])).toBe(4);
    expect(fairShare(10, [1, 1], [2, 2])).toBe(5);
    expect(fairShare(10, [3], [0])).toBe(Infinity);
  });

  it('never gives out more than there is', () => {
    const counts = [3, 5, 2];
    const demands = [4, 1, 9];
    const level = fairShare(20, counts, demands);
    const given = demands.reduce((sum, demand, index) => sum + counts[index] * Math.min(demand, level), 0);
    expect(given).toBeCloseTo(20);
  });
});

describe('rates', () => {
  const rateOf = (block: BlockWork, perSm: number, sms = 132): number =>
    blockRates([{ work: block, sms, perSm }], [{ members: [0] }], limits, EXPONENT, 4)[0][0];

  it('lets latency-bound blocks share an SM for free', () => {
    const block = work({ issue: 100 }, 10_000);
    expect(rateOf(block, 8)).toBeCloseTo(rateOf(block, 1), 6);
  });

  it('slows issue-bound blocks in proportion', () => {
    const block = work({ issue: 40_000 }, 10);
    expect(rateOf(block, 1) / rateOf(block, 8)).toBeCloseTo(8, 1);
    // 40,000 instructions at 4 a cycle.
    expect(1 / rateOf(block, 1)).toBeCloseTo(10_000 / 1.98, -1);
  });

  it('shares DRAM over the whole device', () => {
    const block = work({ dramBytes: 1e6 }, 10);
    const bytesPerNs = rateOf(block, 8) * 1e6 * 8 * 132;
    expect(bytesPerNs).toBeCloseTo(h200.timing.dramBytesPerSecond / 1e9, -1);
    expect(rateOf(block, 1, 2)).toBeGreaterThan(rateOf(block, 8) * 50);
  });

  it('does not slow a light user of a resource that others fill', () => {
    const hog = work({ data: 100_000 }, 100);
    const light = work({ data: 10 }, 5_000);
    const groups = [
      { work: hog, sms: 1, perSm: 6 },
      { work: light, sms: 1, perSm: 1 },
    ];
    const [[, withHogs]] = blockRates(groups, [{ members: [0, 1] }], limits, EXPONENT, 4);
    expect(withHogs).toBeCloseTo(rateOf(light, 1, 1), 5);
  });
});

describe('caches', () => {
  it('L1 forgets the line used longest ago, and fills sectors one by one', () => {
    const cache = new L1Cache(2);
    expect(cache.touch(1, 0b0001)).toBe(0b0001);
    expect(cache.touch(1, 0b0011)).toBe(0b0010);
    cache.touch(2, 1);
    cache.touch(1, 1);
    cache.touch(3, 1);
    expect(cache.touch(1, 0b0011)).toBe(0);
    expect(cache.touch(2, 1)).toBe(1);
  });

  it('L2 keeps what fits and drops the oldest segments', () => {
    const curve = h200.timing.l2MissCurve;
    expect(missShare(curve, 1e6)).toBe(0);
    expect(missShare(curve, 1e9)).toBe(1);
    const state: L2State = { entries: [] };
    touchSegments(state, [{ key: 'a', bytes: 20e6 }], curve);
    touchSegments(state, [{ key: 'b', bytes: 20e6 }], curve);
    expect(residentShare(state, 'a', 20e6)).toBe(1);
    touchSegments(state, [{ key: 'c', bytes: 20e6 }], curve);
    expect(residentShare(state, 'c', 20e6)).toBe(1);
    expect(residentShare(state, 'a', 20e6)).toBeLessThan(0.2);
  });
});
