import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROFILE_NAMES, profileNamed } from '../gpu/index.js';
import { runLaunchSpecFile, type LaunchSpecResult } from './index.js';

const LAUNCHES = resolve(import.meta.dirname, '../gpu/reference/launches');
const launch = (name: string, device: string): LaunchSpecResult =>
  runLaunchSpecFile(join(LAUNCHES, `${name}.json`), { device });

/** A small launch of every reference kernel. */
const KERNELS = [
  'saxpy__n-16384-a-1-5',
  'vecadd__n-4096',
  'reduce_sum__n-8192',
  'transpose__rows-cols-256',
  'softmax_rows__rows-64-cols-1000',
  'sgemm_naive__M-N-K-64',
  'sgemm_tiled__M-N-K-64',
  'conv3x3__N-1-C-32-H-W-28-K-64',
  'dense_relu__batch-1-in-784-out-10',
  'rbf_svm__batch-1-nsv-512-dim-784-gamma-0-002',
  'forest_vote__batch-64-dim-784-trees-50-depth-10-classes-10',
];

const measuredCard = new Map(KERNELS.map((kernel) => [kernel, launch(kernel, 'h200')]));

/** The 8800 has no atomics. */
const runs = (kernel: string, card: string): boolean => card !== '8800gtx' || !kernel.startsWith('forest');

describe.each(PROFILE_NAMES)('%s', (card) => {
  it.each(KERNELS.filter((kernel) => runs(kernel, card)))('runs %s, to the same results', (kernel) => {
    const result = launch(kernel, card);
    const reference = measuredCard.get(kernel);
    expect(result.buffers).toEqual(reference?.buffers);
    expect(result).toMatchObject({ device: card, measured: profileNamed(card).measured });
    // A chain of loads of few blocks is a little faster on cards with nearer caches.
    expect(result.durationUs / (reference?.durationUs ?? NaN)).toBeGreaterThan(0.75);
    expect(result.averagePowerWatts).toBeGreaterThan(profileNamed(card).power.idleWatts * 0.999);
  });
});
