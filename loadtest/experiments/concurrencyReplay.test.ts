import { describe, expect, it } from 'vitest';
import { ConcurrencyReplay } from './concurrencyReplay.js';
import { measuredScenarios } from './concurrencyScenario.js';

const scenarios = measuredScenarios();
const replay = new ConcurrencyReplay();

/** Of the measured scenarios those that take little to replay, one of each kind of sharing. */
const QUICK = [
  'compute 66 blocks, twice',
  "compute half a card's slots, twice",
  'compute and read, half the slots each',
  'small chain, then compute full',
  'double and single',
  'read DRAM, twice',
  'compute full, four times',
];

describe('launches side by side, times alone given', () => {
  it.each(QUICK)('%s: as long as on the card, within a fifth', (name) => {
    const scenario = scenarios.find((each) => each.name === name);
    if (scenario === undefined) throw new Error(`'${name}' was not measured`);
    const { makespanUs } = replay.runGiven(scenario);
    expect(Math.abs(makespanUs / scenario.makespanUs - 1)).toBeLessThan(0.2);
  });

  it('end on the card in the order of their age where they want the same', () => {
    const scenario = scenarios.find((each) => each.name === "compute half a card's slots, twice");
    if (scenario === undefined) throw new Error('not measured');
    const [older, younger] = replay.runGiven(scenario).launches;
    expect(older.endUs / scenario.launches[0].expect.endUs).toBeCloseTo(1, 0);
    expect(younger.endUs).toBeGreaterThan(1.5 * older.endUs);
  });
});
