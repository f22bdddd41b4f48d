import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { emptyCounters, type BlockRange } from '../executor/index.js';
import { kernelFixtures, runFixture } from '../laboratory/kernels/index.js';
import { CHECKERS, checkLaunch, checkSpec, type Finding } from './index.js';

const folder = fileURLToPath(new URL('../gpu/reference/launches', import.meta.url));

/** The smallest launch of each measured kernel, and the blocks of it that are run: all where there are few. */
const launches: [name: string, blocks?: BlockRange][] = [
  ['conv3x3__N-1-C-32-H-W-28-K-64', { lo: 0, hi: 1 }],
  ['dense_relu__batch-1-in-784-out-10'],
  ['forest_vote__batch-1-dim-784-trees-50-depth-10-classes-10'],
  ['rbf_svm__batch-1-nsv-512-dim-784-gamma-0-002', { lo: 0, hi: 1 }],
  ['reduce_sum__n-8192'],
  ['saxpy__n-256-a-1-5'],
  ['sgemm_naive__M-N-K-64', { lo: 0, hi: 2 }],
  ['sgemm_tiled__M-N-K-64', { lo: 0, hi: 2 }],
  ['softmax_rows__rows-1-cols-1000'],
  ['transpose__rows-cols-256', { lo: 0, hi: 4 }],
  ['vecadd__n-4096'],
];

describe('measured kernels are clean under every checker', () => {
  it('covers each', () => {
    const kernels = new Set(readdirSync(folder).map((name) => name.split('__')[0]));
    expect(launches.map(([name]) => name.split('__')[0]).sort()).toEqual([...kernels].sort());
  });

  it.each(launches)('%s', (name, blocks) => {
    const spec: unknown = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
    const { findings, checked } = checkSpec(spec, folder, {
      checkers: CHECKERS,
      globalRaces: true,
      ...(blocks === undefined ? {} : { blocks }),
    });
    // The votes of the forest are counted up by atomics from the zeros that the spec promises.
    expect(findings.filter(({ severity }) => severity !== 'info')).toEqual([]);
    expect(checked.threadInstructions).toBeGreaterThan(0);
  });
});

/** Programs that live on order: barriers, warp-level operations, atomics, locks, fences, the heap. */
const ordered = [
  'treeSum',
  'barrierPipeline',
  'bulkCopies',
  'warpSum',
  'lastBlockSum',
  'blellochScan',
  'lookbackScan',
  'segmentedScan',
  'bitonicSort',
  'tiledGemm',
  'flashHead',
  'cooperativeHeat',
  'sharedHistogram',
  'warpHistogram',
  'lockedBuckets',
  'quickSort',
];

describe('CUDA programs are clean under every checker', () => {
  it.each(ordered)('%s', (name) => {
    const fixture = kernelFixtures.find((each) => each.name === name);
    if (fixture === undefined) throw new Error(`no fixture ${name}`);
    const ptx = readFileSync(fixture.ptx, 'utf8');
    const findings: Finding[] = [];
    runFixture(fixture, 'fast', {
      run(launch, blocks, _variant, fuelPerBlock) {
        const memory = { allocations: [], freed: [] };
        const options = { checkers: CHECKERS, blocks, fuelPerBlock, globalRaces: true };
        findings.push(...checkLaunch(launch, ptx, memory, options).findings);
        return { status: 'done', counters: emptyCounters() };
      },
    });
    expect(findings).toEqual([]);
  });
});
