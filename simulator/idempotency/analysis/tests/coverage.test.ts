import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NodeMemory, WasmExecutor } from '../../../executor/index.js';
import { FIXTURE_BACKING_BYTES, kernelFixtures, PlacedFixture } from '../../../kernels/index.js';
import { parseModule } from '../../../ptx/index.js';
import { uncoveredAccesses } from './coverage.js';

describe('summaries of the CUDA programs', () => {
  it.each(kernelFixtures.map((fixture) => [fixture.name, fixture] as const))('cover %s', (_, fixture) => {
    const memory = new NodeMemory({ backingBytes: FIXTURE_BACKING_BYTES });
    const placed = new PlacedFixture(fixture, memory.createSpace());
    const launches = placed.launches(parseModule(readFileSync(fixture.ptx, 'utf8'), fixture.name));
    const uncovered = launches.flatMap((launch) => uncoveredAccesses(launch));
    expect(uncovered).toEqual([]);
    expect(WasmExecutor).toBeDefined();
  });
});
