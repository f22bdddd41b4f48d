import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NodeMemory } from '../../executor/index.js';
import { FIXTURE_BACKING_BYTES, kernelFixtures, PlacedFixture } from '../../laboratory/kernels/index.js';
import { parseModule } from '../../ptx/index.js';
import { uncoveredAccesses } from './tests/coverage.js';

/** Of each kind of address one, of those that are soon interpreted. */
const programs = new Set([
  'clampImage',
  'pitchedRows',
  'dequantise',
  'filter1d',
  'bfsFrontier',
  'csrScalar',
  'ellSpmv',
  'transpose',
  'structParameters',
  'structCalls',
  'constantTables',
  'heat2d',
  'warpScan',
  'mergeSort',
  'hashTable32',
  'bulkCopies',
]);

describe('summaries of the CUDA programs', () => {
  const chosen = kernelFixtures.filter(({ name }) => programs.has(name));
  it.each(chosen.map((fixture) => [fixture.name, fixture] as const))('cover %s', (_, fixture) => {
    const memory = new NodeMemory({ backingBytes: FIXTURE_BACKING_BYTES });
    const placed = new PlacedFixture(fixture, memory.createSpace());
    const launches = placed.launches(parseModule(readFileSync(fixture.ptx, 'utf8'), fixture.name));
    const uncovered = launches.flatMap((launch) => uncoveredAccesses(launch));
    expect(uncovered).toEqual([]);
  });
});
