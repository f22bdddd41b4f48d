import { describe, expect, it } from 'vitest';
import { profileNamed } from '../profiles/index.js';
import { busiestTurns } from './contention.js';
import { linkCycles, Signals } from './signals.js';
import { newTracedBlock, type TracedBlock } from './tracedBlock.js';

const h200 = profileNamed('h200');
const { timing } = h200;
const { l2, atomic, fence } = timing.latency;

/** A block that waits for the flag before its own, and raises its own so many cycles after it has seen it. */
function waiting(block: number, cycles: number, isEarly = false): Signals {
  const signals = new Signals();
  if (isEarly) signals.write(4 * block, 10);
  signals.look(4 * block - 4, 100, l2);
  signals.write(4 * block, 100 + l2 + cycles);
  return signals;
}

describe('blocks that each wait for the one before', () => {
  const link = (cycles: number): number => linkCycles(waiting(4, cycles), waiting(5, cycles), atomic / 2);

  it('take the way there and back, and what each does between', () => {
    // Measured: 545 cycles a block, 1,110 with a fence between.
    expect(link(0) / 545).toBeCloseTo(1, 1);
    expect(link(fence) / 1110).toBeCloseTo(1, 1);
  });

  it('are none where the flag was raised before the wait, or another one is awaited', () => {
    expect(linkCycles(waiting(4, 50, true), waiting(5, 50), atomic / 2)).toBe(0);
    expect(linkCycles(waiting(3, 50), waiting(5, 50), atomic / 2)).toBe(0);
  });

  it('take longer by atomic operations', () => {
    const later = new Signals();
    later.look(16, 100, atomic);
    // Measured: 772 cycles.
    expect(linkCycles(waiting(4, 0), later, atomic / 2) / 772).toBeCloseTo(1, 1);
  });

  it('are as many in a row as the grid has', () => {
    const traced = [5, 4].map((block): TracedBlock => ({
      ...newTracedBlock(block, 1, 0),
      signals: waiting(block, 0),
    }));
    const turns = busiestTurns(traced, {
      profile: h200,
      gridBlocks: 100,
      residentBlocks: 100,
      bytesOf: () => 400,
    });
    expect(turns / timing.atomicsPerAddressPerCycle).toBeCloseTo(link(0), 6);
    expect(
      busiestTurns(traced.slice(0, 1), {
        profile: h200,
        gridBlocks: 100,
        residentBlocks: 100,
        bytesOf: () => 400,
      }),
    ).toBe(0);
  });
});
