import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { BlockRange } from '../executor/index.js';
import { CHECKERS, checkSpec } from './index.js';

const folder = fileURLToPath(new URL('../gpu/reference/launches', import.meta.url));

/** The smallest launch of each measured kernel, and the blocks of it that are run: all where there are few. */
const launches: [name: string, blocks?: BlockRange][] = [
  ['conv3x3__N-1-C-32-H-W-28-K-64', { lo: 0, hi: 2 }],
  ['dense_relu__batch-1-in-784-out-10'],
  ['forest_vote__batch-1-dim-784-trees-50-depth-10-classes-10'],
  ['rbf_svm__batch-1-nsv-512-dim-784-gamma-0-002'],
  ['reduce_sum__n-8192'],
  ['saxpy__n-256-a-1-5'],
  ['sgemm_naive__M-N-K-64', { lo: 0, hi: 4 }],
  ['sgemm_tiled__M-N-K-64', { lo: 0, hi: 4 }],
  ['softmax_rows__rows-1-cols-1000'],
  ['transpose__rows-cols-256', { lo: 0, hi: 8 }],
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
