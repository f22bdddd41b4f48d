import { describe, expect, it } from 'vitest';
import { emptyCounters } from '../../executor/index.js';
import { profileNamed } from '../profiles/index.js';
import { blockOf } from '../tests/knownLaunches.js';
import type { KernelProfile } from './kernelProfile.js';
import type { SegmentUse } from './segmentPattern.js';
import { blockWork, planTraffic } from './trafficPlan.js';

const PLAN = { dramBytesPerBlock: 0, dramRowsPerBlock: 0, dramShare: 0, scale: 1, touched: [] };

function chainOf(profile: KernelProfile, length: number): number {
  const counters = { ...emptyCounters(), blocks: 1, warpInstructions: length };
  return blockWork(profile, PLAN, counters, profileNamed('h200')).chainCycles;
}

describe('the work of a block', () => {
  const typical: KernelProfile = {
    work: blockOf({ issue: 1000 }, 5000),
    chainDramCycles: 5000,
    warpInstructions: 1000,
    segments: [],
    tracedBlocks: 64,
    l2TrafficBytes: 0,
  };
  const long = {
    work: blockOf({ issue: 8000 }, 6000),
    chainDramCycles: 6000,
    warpInstructions: 8000,
    length: 8000,
  };

  it('follows the traced block whose length comes next to its own', () => {
    const uneven = { ...typical, others: [long] };
    expect(chainOf(uneven, 8000)).toBe(6000);
    expect(chainOf(uneven, 1000)).toBe(5000);
    expect(chainOf(uneven, 2000)).toBe(10_000);
    expect(chainOf(typical, 8000)).toBe(40_000);
  });

  it('goes on like the part that was traced', () => {
    const partly = { ...typical, others: [{ ...long, warpInstructions: 4000 }] };
    expect(chainOf(partly, 8000)).toBe(12_000);
  });
});

describe('traffic to DRAM', () => {
  const MB = 2 ** 20;
  const blocks = 1024;
  const sweep: SegmentUse = { segment: 1, readBytes: 60 * MB, writtenBytes: 0, footprintBytes: 60 * MB };
  /** Reads at random of 4 MB, which take so many bytes of DRAM's if nothing of it is in L2. */
  const gathered = (bytes: number): SegmentUse => ({
    segment: 0,
    readBytes: 4 * MB,
    writtenBytes: 0,
    footprintBytes: 4 * MB,
    scattered: { sectorBytes: bytes / blocks, dramBytes: bytes / blocks },
  });
  const kernel: KernelProfile = {
    work: blockOf({ issue: 1000 }, 5000),
    chainDramCycles: 5000,
    warpInstructions: 1000,
    segments: [],
    tracedBlocks: blocks,
    l2TrafficBytes: 0,
  };
  const dramBytesOf = (...uses: SegmentUse[]): number => {
    const keys = uses.map(({ segment }) => `${segment}`);
    const plan = planTraffic(kernel, { entries: [] }, profileNamed('h200'), uses, MB, keys, blocks, 0, 1);
    return plan.dramBytesPerBlock * blocks;
  };

  it('is none of what is asked for again before much else goes by', () => {
    expect(dramBytesOf(sweep, gathered(400 * MB))).toBeCloseTo(64 * MB, -4);
  });

  it('opens a row for each piece that comes at random, and one for all that fill it', () => {
    const rowsOf = (use: SegmentUse): number => {
      const plan = planTraffic(kernel, { entries: [] }, profileNamed('h200'), [use], MB, ['0'], blocks, 0, 1);
      return plan.dramRowsPerBlock * blocks;
    };
    const rows = { perReadByte: 1 / 64, perWrittenByte: 0, storedBytes: 0 };
    const use: SegmentUse = {
      ...sweep,
      readBytes: 512 * MB,
      footprintBytes: 512 * MB,
      spanBytes: 512 * MB,
      rows,
    };
    expect(rowsOf(use)).toBe((512 * MB) / 256);
    const scattered = { sectorBytes: (256 * MB) / blocks, dramBytes: (512 * MB) / blocks };
    expect(rowsOf({ ...use, scattered })).toBe((512 * MB) / 64);
  });

  it('is some of what is asked for again after most of a sweep', () => {
    expect(dramBytesOf(sweep, gathered(6 * MB))).toBeGreaterThan(64.3 * MB);
  });
});
