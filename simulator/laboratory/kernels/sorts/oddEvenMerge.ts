import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const n = 900;

/** -0 before 0; JavaScript's sort of a Float32Array does the same. */
export const oddEvenMerge = kernelFixture({
  ptx: new URL('./oddEvenMerge.ptx', import.meta.url),
  buffers: () => {
    const x = uniform(n, 32, -4, 4).map((value, i) => (i % 3 === 0 ? Math.round(value) : value));
    x.set([0, -0, 0, -0, 1e-42, -1e-42, Infinity, -Infinity]);
    return { x };
  },
  launches: [{ kernel: 'oddEvenMerge', grid: 2, block: 256, args: [{ buffer: 'x' }, { i32: n }] }],
  reference: ({ x }) => {
    x.subarray(0, 512).sort();
    x.subarray(512).sort();
  },
  outputs: { x: 'exact' },
});
