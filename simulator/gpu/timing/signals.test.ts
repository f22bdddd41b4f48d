import { describe, expect, it } from 'vitest';
import { profileNamed } from '../profiles/index.js';
import { busiestTurns } from './contention.js';
import { linkCycles, Signals, turnCycles } from './signals.js';
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

describe('blocks that hand a turn on by storing where they wait', () => {
  /** A block that has so many turns at a word, each so many cycles long. */
  const taking = (address: number, times: number, cycles: number, isStore = true): Signals => {
    const signals = new Signals();
    for (let turn = 0; turn < times; turn++) {
      signals.look(address, turn * 9000, l2);
      signals.write(address, turn * 9000 + l2 + cycles, isStore);
    }
    return signals;
  };
  const way = atomic / 2 + l2;

  it('wait for all others that wait there', () => {
    // Measured: tickets of 528 blocks, two fences and a sum a turn, take 1,860 cycles each.
    const tickets = [0, 1, 2].map(() => taking(0, 2, 2 * fence + l2));
    const each = turnCycles(tickets, 528, atomic / 2) / (2 * 528);
    expect(each / 1860).toBeCloseTo(1, 1);
  });

  it('wait for one other where nobody else is seen', () => {
    const pairs = [1, 2, 3].map((address) => taking(address, 16, 1000));
    expect(turnCycles(pairs, 264, atomic / 2)).toBe(2 * 16 * (1000 + way));
  });

  it('are not those that count up to a barrier', () => {
    expect(turnCycles([taking(0, 8, 1000, false)], 264, atomic / 2)).toBe(0);
  });
});
