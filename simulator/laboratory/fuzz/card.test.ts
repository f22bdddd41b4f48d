import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ReferenceInterpreter } from '../../executor/index.js';
import { sampleOf } from '../testSample/index.js';
import { describeCase, FuzzBench, generateKernel } from './index.js';

/**
 * Digests of what an NVIDIA H200 left in memory after random kernels (`generateKernel(seed, { forCard: true, generation })`,
 * ptxas 13.0.88 -O1, driver 13.0). Seeds are left out where the assembled code departs from PTX.
 *
 * Generation 1 of 300, without f64: a guarded `testp.finite` writes its result though the guard is false (38, 171), a `neg`
 * or `abs` folded into other instructions keeps a NaN's payload (2, 128), and an irreducible loop ends too early (82); the
 * last three are right with -O0.
 *
 * Generation 2 of 360, with the f64 registers: a guarded `set` of 16-bit operands converts the old value though the guard is
 * false (56, 140, 160, 305), a guarded `vadd4` or `vsub4` with `.add` forgets its guard (26, 35), the operands of an f64
 * instruction change places, so that the other one's NaN payload is kept (90, 107, 110, 122, 254, 260, 329, 355), and lanes
 * that come from a call through a pointer vote in parts (174); the last two kinds are right with -O0.
 */
function digestsOf(file: string): Readonly<Record<string, string>> {
  const card = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as {
    readonly digests: Readonly<Record<string, string>>;
  };
  return card.digests;
}

const recorded = [
  { generation: 1, digests: digestsOf('cardDigests.json'), least: 290 },
  { generation: 2, digests: digestsOf('cardDigestsWide.json'), least: 340 },
] as const;

/** Of sixteen; with `WINDJAMMER_TESTS=all` all of them. */
const PARTS = sampleOf(
  Array.from({ length: 16 }, (_, part) => part),
  8,
);

describe.each(recorded)('the interpreter against a real card, generation $generation', (card) => {
  const seeds = Object.keys(card.digests).map(Number);

  it('has results of many kernels', () => {
    expect(seeds.length).toBeGreaterThan(card.least);
  });

  it.each(PARTS)('leaves the same memory after random kernels (part %i)', (part) => {
    for (const seed of seeds.filter((each) => each % 16 === part)) {
      const fuzz = generateKernel(seed, { forCard: true, generation: card.generation });
      const bench = new FuzzBench(fuzz);
      const range = { lo: 0, hi: bench.blocks };
      const result = new ReferenceInterpreter().run(bench.launch, range, 'fast', 10_000_000);
      const isAlike = bench.digest(card.generation === 2) === card.digests[seed];
      bench.close();
      if (result.status !== 'done' || !isAlike) expect.fail(describeCase(fuzz));
    }
  });
});
