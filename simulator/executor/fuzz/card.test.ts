import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ReferenceInterpreter } from '../interpreter/index.js';
import { describeCase, FuzzBench, generateKernel } from './index.js';

/**
 * Digests of what an NVIDIA H200 left in memory after random kernels (`generateKernel(seed, { forCard: true })`,
 * ptxas 13.0.88 -O1, driver 13.0). Seeds are left out where the assembled code departs from PTX: a guarded `testp.finite`
 * writes its result though the guard is false (38, 171), a `neg` or `abs` folded into other instructions keeps a NaN's
 * payload (2, 128), and an irreducible loop ends too early (82); the last three are right with -O0.
 */
const card = JSON.parse(readFileSync(new URL('cardDigests.json', import.meta.url), 'utf8')) as {
  readonly digests: Readonly<Record<string, string>>;
};

describe('the interpreter against a real card', () => {
  const seeds = Object.keys(card.digests).map(Number);

  it('has results of many kernels', () => {
    expect(seeds.length).toBeGreaterThan(290);
  });

  it.each([0, 1, 2, 3])('leaves the same memory after random kernels (part %i)', (part) => {
    for (const seed of seeds.filter((each) => each % 4 === part)) {
      const fuzz = generateKernel(seed, { forCard: true });
      const bench = new FuzzBench(fuzz);
      const result = new ReferenceInterpreter().run(
        bench.launch,
        { lo: 0, hi: bench.blocks },
        'fast',
        10_000_000,
      );
      if (result.status !== 'done' || bench.digest(false) !== card.digests[seed])
        expect.fail(describeCase(fuzz));
    }
  });
});
