import { describe, expect, it } from 'vitest';
import { ReferenceInterpreter } from '../../../executor/index.js';
import { anyOrderValues, cardOutputs, isAnyOrder, type CardResults } from '../card/cardResults.js';
import {
  firstDifference,
  referenceResult,
  runFixture,
  type FixtureResult,
  type KernelFixture,
} from '../index.js';

const variants = ['fast', 'observed', 'resumable'] as const;
/** Thread-instructions of a block between two yields of the resumable variant. */
const TURN = 20_000;

/**
 * Holds programs to their references in plain code and to what a card left in memory on the same inputs, in every variant
 * and in the reference interpreter.
 */
export function describeFixtures(fixtures: readonly KernelFixture[], card: CardResults): void {
  describe.each(fixtures.map((fixture) => [fixture.name, fixture] as const))('%s', (_, fixture) => {
    const expected = referenceResult(fixture);

    function hold(result: FixtureResult): void {
      expect(firstDifference(fixture, result.buffers, expected)).toBeUndefined();
      expect(result.printed).toBe(fixture.printed ?? '');
      if (fixture.isUnasked !== true) holdToCard(fixture, result, card);
    }

    it.each(variants)('computes what plain TypeScript and a card do (%s)', (variant) => {
      hold(runFixture(fixture, variant, undefined, variant === 'resumable' ? TURN : undefined));
    });

    it('computes what plain TypeScript and a card do (reference interpreter)', () => {
      hold(runFixture(fixture, 'fast', new ReferenceInterpreter()));
    });
  });

  it('has what a card made of every program', () => {
    const asked = fixtures.filter(({ isUnasked }) => isUnasked !== true);
    expect(Object.keys(card.programs).sort()).toEqual(asked.map(({ name }) => name).sort());
  });
}

/** Bit for bit by digest, approximate functions too; sums in any order within the fixture's bound of the card's values. */
function holdToCard(fixture: KernelFixture, { buffers, printed }: FixtureResult, card: CardResults): void {
  const kept = card.programs[fixture.name];
  if (kept === undefined) throw new Error(`no card has run ${fixture.name}`);
  const outputs = cardOutputs(fixture, buffers, printed);
  expect(outputs.exact).toEqual(kept.exact);
  expect(outputs.printed).toBe(kept.printed);
  const open = Object.entries(fixture.outputs).filter(([, rule]) => isAnyOrder(rule));
  const part = { ...fixture, outputs: Object.fromEntries(open) };
  expect(firstDifference(part, buffers, anyOrderValues(fixture, kept))).toBeUndefined();
}
