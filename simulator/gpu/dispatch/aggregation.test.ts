import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { profileNamed } from '../profiles/index.js';
import { DEVICE_RESOURCES, SM_RESOURCES, type BlockWork } from '../timing/index.js';
import {
  BlockEngine,
  allowedSms,
  blockAt,
  emptyEngine,
  emptySmUse,
  occupy,
  placeBlocks,
  type PlacedBlocks,
  type ResidentGroup,
} from './index.js';

const h200 = profileNamed('h200');
const FOOTPRINT = { threads: 256, warps: 8, registers: 8192, sharedBytes: 1024 };

/**
 * What blocks of nearly equal work may lose by being one group: works within 1 % of each other count as one, blocks within 1 %
 * of their end go with the others, and SMs whose rates differ by less than 10 % go on as one.
 */
const MAKESPAN_TOLERANCE = 0.005;
const BLOCK_TOLERANCE = 0.02;

interface Grid {
  readonly launch: number;
  readonly blocks: number;
  readonly work: BlockWork;
}

const grid = fc
  .record({
    blocks: fc.integer({ min: 1, max: 700 }),
    issue: fc.double({ min: 100, max: 20_000, noNaN: true }),
    l2Port: fc.double({ min: 0, max: 50_000, noNaN: true }),
    dramBytes: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 100_000, noNaN: true })),
    chainCycles: fc.double({ min: 400, max: 30_000, noNaN: true }),
  })
  .map(({ blocks, chainCycles, ...amounts }) => ({
    blocks,
    work: {
      sm: SM_RESOURCES.map((name) => (name === 'issue' || name === 'l2Port' ? amounts[name] : 0)),
      device: DEVICE_RESOURCES.map((name) => (name === 'dramBytes' ? amounts.dramBytes : 0)),
      chainCycles,
      chainFixedNs: 0,
      warps: 8,
    },
  }));

/** Places launches one after the other as room allows. @returns the end of every block, and how often the engine was asked */
function run(grids: readonly Grid[], isApart: boolean): { ends: Map<string, number>; looks: number } {
  const engine = new BlockEngine(h200, emptyEngine(h200, 0), () => undefined, isApart);
  const use = emptySmUse(h200.sms);
  const next = grids.map(() => 0);
  const ends = new Map<string, number>();
  let looks = 0;
  for (;;) {
    grids.forEach(({ launch, blocks, work }, index) => {
      if (next.slice(0, index).some((placed, older) => placed < grids[older].blocks)) return;
      const sms = placeBlocks(h200, use, allowedSms(h200, -1n), FOOTPRINT, blocks - next[index]);
      const placed: PlacedBlocks = { work, firstBlock: next[index], sms };
      if (sms.length > 0) engine.add(launch, [placed]);
      next[index] += sms.length;
    });
    const soonestNs = engine.rerate();
    looks += 1;
    if (soonestNs === undefined) return { ends, looks };
    engine.advance(soonestNs);
    for (const group of engine.takeFinished()) note(group, soonestNs);
  }
  function note(group: ResidentGroup, endNs: number): void {
    for (const sm of group.sms) occupy(use, sm, FOOTPRINT, -group.perSm);
    for (let place = 0; place < group.count; place++) {
      ends.set(`${group.launch}:${blockAt(group, place)}`, endNs);
    }
  }
}

describe('blocks in groups', () => {
  it('end when they would end each by itself', () => {
    let looksApart = 0;
    let looksTogether = 0;
    fc.assert(
      fc.property(fc.array(grid, { minLength: 1, maxLength: 3 }), (given) => {
        const grids = given.map((each, index) => ({ ...each, launch: index + 1 }));
        const apart = run(grids, true);
        const together = run(grids, false);
        expect(together.ends.size).toBe(grids.reduce((sum, { blocks }) => sum + blocks, 0));
        const makespanNs = Math.max(...apart.ends.values());
        const difference = Math.max(...together.ends.values()) / makespanNs - 1;
        expect(Math.abs(difference)).toBeLessThan(MAKESPAN_TOLERANCE);
        for (const [block, endNs] of apart.ends) {
          expect(Math.abs((together.ends.get(block) ?? 0) - endNs)).toBeLessThan(
            BLOCK_TOLERANCE * makespanNs,
          );
        }
        looksApart += apart.looks;
        looksTogether += together.looks;
      }),
      { seed: 20_261_128, numRuns: 12 },
    );
    expect(looksTogether).toBeLessThanOrEqual(looksApart);
  });
});
