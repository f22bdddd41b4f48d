import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NodeMemory } from '../../../simulator/executor/index.js';
import {
  FIXTURE_BACKING_BYTES,
  kernelFixtures,
  PlacedFixture,
} from '../../../simulator/laboratory/kernels/index.js';
import { parseModule } from '../../../simulator/ptx/index.js';
import { CoveringExecutor, emptyCover } from './coveringExecutor.js';
import { coverFixture, coverModel } from './coverSuite.js';

const programs = ['saxpy', 'tiledGemm', 'treeSum', 'softmaxRows', 'csrVector', 'pitchedRows'];

function programNamed(name: string) {
  const found = kernelFixtures.find((fixture) => fixture.name === name);
  if (found === undefined) throw new Error(`no program ${name}`);
  return found;
}

describe('accesses of launches', () => {
  it.each(programs)('lie where the validator predicted them: %s', (name) => {
    const totals = emptyCover();
    coverFixture(programNamed(name), totals);
    expect(totals.uncovered).toEqual([]);
    expect(totals.accesses).toBeGreaterThan(100);
  });

  it('lie where the validator predicted them: a model’s warm-up and a batch', () => {
    const totals = emptyCover();
    coverModel('digits-logistic', [3], totals);
    expect(totals.uncovered).toEqual([]);
    expect(totals.runs).toBeGreaterThan(3);
  });

  it('are found where a prediction is too short', () => {
    const fixture = programNamed('saxpy');
    const memory = new NodeMemory({ backingBytes: FIXTURE_BACKING_BYTES });
    const totals = emptyCover();
    const executor = new CoveringExecutor(memory, totals, (summary) => ({
      ...summary,
      accesses: summary.accesses.map((access) => ({ ...access, bytes: access.bytes - 1 })),
    }));
    const placed = new PlacedFixture(fixture, memory.createSpace());
    for (const launch of placed.launches(parseModule(readFileSync(fixture.ptx, 'utf8'), 'saxpy.ptx'))) {
      const [x, y, z] = launch.shape.grid;
      executor.run(launch, { lo: 0, hi: x * y * z }, 'fast', 1e7);
    }
    expect(totals.uncovered.length).toBeGreaterThan(0);
  });
});
