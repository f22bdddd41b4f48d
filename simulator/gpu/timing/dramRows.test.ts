import { describe, expect, it } from 'vitest';
import { profileNamed } from '../profiles/index.js';
import { DEVICE_RESOURCES, capacities } from './blockWork.js';
import { rowUse } from './dramRows.js';
import type { KernelProfile } from './kernelProfile.js';
import { LineTable } from './lineTable.js';
import type { SegmentUse } from './segmentPattern.js';
import { blockWork, planTraffic } from './trafficPlan.js';

const h200 = profileNamed('h200');
const limits = capacities(h200, h200.clockHz);
const WORDS = 1024;
const GRID = 2 ** 18;

/** A block that uses words so far apart. */
function linesOf(strideBytes: number, isLoad: boolean): LineTable {
  const lines = new LineTable();
  for (let word = 0; word < WORDS; word++) {
    const line = Math.floor((word * strideBytes) / 128);
    const found = lines.find(line);
    const place = found < 0 ? lines.place(line, 0) : found;
    lines.use(place, 1 << (Math.floor((word * strideBytes) / 32) % 4), isLoad);
  }
  return lines;
}

/** Picoseconds a word that DRAM takes for a grid of such blocks, by what takes longest. */
function picoseconds(strideBytes: number, isLoad: boolean): number {
  const granules = Math.min(WORDS, (WORDS * strideBytes) / 64);
  const bytes = granules * 64 * GRID;
  const use: SegmentUse = {
    segment: 0,
    readBytes: isLoad ? bytes : 0,
    writtenBytes: isLoad ? 0 : bytes,
    footprintBytes: bytes,
    rows: rowUse([linesOf(strideBytes, isLoad)], 0, isLoad ? 0 : 4 * WORDS),
  };
  const kernel: KernelProfile = {
    work: { sm: [], device: DEVICE_RESOURCES.map(() => 0), chainCycles: 0, chainFixedNs: 0, warps: 1 },
    chainDramCycles: 0,
    warpInstructions: 1,
    segments: [],
    tracedBlocks: GRID,
    l2TrafficBytes: WORDS * 32,
  };
  const plan = planTraffic(kernel, { entries: [] }, h200, [use], 0, ['a'], GRID, 0, 1);
  const { device } = blockWork(kernel, plan, { warpInstructions: GRID, blocks: GRID } as never, h200);
  const ns = ['dramBytes', 'dramRows'].map((name) => {
    const index = DEVICE_RESOURCES.findIndex((each) => each === name);
    return device[index] / limits.device[index];
  });
  return (Math.max(...ns) * 1000) / WORDS;
}

describe('rows of DRAM', () => {
  // h200-traffic.csv and the same in steps: what a word takes that lies so far from the next.
  it.each([
    [64, 14.2],
    [128, 16.2],
    [256, 21.9],
    [1024, 25.3],
  ])('words read at strides of %i', (stride, measured) => {
    expect(picoseconds(stride, true) / measured).toBeGreaterThan(0.8);
    expect(picoseconds(stride, true) / measured).toBeLessThan(1.25);
  });

  it.each([
    [64, 19.7],
    [128, 40],
    [256, 55.2],
    [1024, 62.1],
  ])('words written at strides of %i: what is left of a piece is read first', (stride, measured) => {
    expect(picoseconds(stride, false) / measured).toBeGreaterThan(0.7);
    expect(picoseconds(stride, false) / measured).toBeLessThan(1.3);
  });
});
