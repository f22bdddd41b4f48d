import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { NodeMemory } from '../memory/index.js';
import { placeLaunch, readSpec } from '../tests/referenceLaunch.js';
import { ReferenceInterpreter } from './index.js';

const folder = fileURLToPath(new URL('../../gpu/reference/launches', import.meta.url));
/** The smallest launch of each kernel that was measured. */
const smallest = [
  'conv3x3__N-1-C-32-H-W-28-K-64',
  'dense_relu__batch-1-in-784-out-10',
  'forest_vote__batch-1-dim-784-trees-50-depth-10-classes-10',
  'rbf_svm__batch-1-nsv-512-dim-784-gamma-0-002',
  'reduce_sum__n-8192',
  'saxpy__n-256-a-1-5',
  'sgemm_naive__M-N-K-64',
  'sgemm_tiled__M-N-K-64',
  'softmax_rows__rows-1-cols-1000',
  'transpose__rows-cols-256',
  'vecadd__n-4096',
];

describe('kernels measured on a real card', () => {
  it('covers every kernel', () => {
    const kernels = new Set(readdirSync(folder).map((name) => name.split('__')[0]));
    expect(smallest.map((name) => name.split('__')[0]).sort()).toEqual([...kernels].sort());
  });

  it.each(smallest)('%s', (name) => {
    const path = join(folder, `${name}.json`);
    const spec = readSpec(path);
    const placed = placeLaunch(spec, path, new NodeMemory({ backingBytes: 64 * 2 ** 20 }).createSpace());
    const samples = Object.entries(spec.expect?.samples ?? {}).map(([index, value]) => ({
      index: Number(index),
      value,
    }));
    const [gx, gy, gz] = spec.grid;
    const all = Array.from({ length: gx * gy * gz }, (_, block) => block);
    // One thread an element, 256 a block: of the many blocks of the convolution, those that write the samples.
    const chosen =
      spec.kernel === 'conv3x3' ? [...new Set(samples.map(({ index }) => Math.floor(index / 256)))] : all;
    const result = new ReferenceInterpreter().runBlocks(placed.launch, chosen, 1e9);
    expect(result.status === 'fault' ? result.fault.message : result.status).toBe('done');
    const output = placed.outputs()[0] ?? new Float32Array();
    for (const { index, value } of samples)
      expect(output[index] ?? NaN, `element ${index}`).toBe(Math.fround(value));
    expect(samples.length).toBeGreaterThan(0);
  });
});
