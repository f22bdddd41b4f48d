import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ReferenceInterpreter } from '../../../executor/index.js';
import { SeededRandom } from '../../../random/index.js';
import { firstDifference, referenceResult, runFixture, type FixtureResult } from '../index.js';
import type { CardResults } from '../card/cardResults.js';
import { describeFixtures } from '../tests/heldToCard.js';
import { clusterFixtures } from './index.js';

/** What an H200 left in memory after the same programs on the same inputs. */
const card = JSON.parse(readFileSync(new URL('./cardDigests.json', import.meta.url), 'utf8')) as CardResults;

describeFixtures(clusterFixtures, card);

const variants = ['fast', 'observed', 'undoable', 'resumable'] as const;
/** Thread-instructions of a block between two yields of the resumable variant. */
const TURN = 500;

describe.each(clusterFixtures.map((fixture) => [fixture.name, fixture] as const))('%s', (_, fixture) => {
  const expected = referenceResult(fixture);
  const hold = ({ buffers }: FixtureResult): void => {
    expect(firstDifference(fixture, buffers, expected)).toBeUndefined();
  };

  it.each(variants)('computes what plain TypeScript does (%s)', (variant) => {
    hold(runFixture(fixture, variant, undefined, variant === 'resumable' ? TURN : undefined));
  });

  it('does so in the reference interpreter, in whatever order blocks and warps go', () => {
    hold(runFixture(fixture, 'fast', new ReferenceInterpreter()));
    hold(runFixture(fixture, 'fast', new ReferenceInterpreter({ turn: 7, reversedWarps: true })));
    for (let seed = 0; seed < 2; seed++) {
      const random = new SeededRandom(seed);
      const draw = (choices: number): number => random.below(choices);
      hold(runFixture(fixture, 'fast', new ReferenceInterpreter({ turn: 40, draw })));
    }
  });
});
