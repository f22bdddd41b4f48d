import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const [n, dim] = [27, 16];
const scale = 0.25;

export const flashHead = kernelFixture({
  ptx: new URL('./flashHead.ptx', import.meta.url),
  buffers: () => ({
    q: uniform(n * dim, 72, -3, 3),
    k: uniform(n * dim, 73, -3, 3),
    v: uniform(n * dim, 74),
    out: new Float32Array(n * dim),
    logSums: new Float32Array(n),
  }),
  launches: [
    {
      kernel: 'flashHead',
      grid: 2,
      block: 16,
      args: [
        { buffer: 'q' },
        { buffer: 'k' },
        { buffer: 'v' },
        { buffer: 'out' },
        { buffer: 'logSums' },
        { i32: n },
        { f32: Math.fround(scale * Math.LOG2E) },
      ],
    },
  ],
  reference: ({ q, k, v, out, logSums }) => {
    for (let row = 0; row < n; row++) {
      const scores = Array.from({ length: row + 1 }, (_, j) => {
        let dot = 0;
        for (let d = 0; d < dim; d++) dot += q[row * dim + d] * k[j * dim + d];
        return dot * scale;
      });
      const most = Math.max(...scores);
      const powers = scores.map((score) => Math.exp(score - most));
      const total = powers.reduce((a, b) => a + b, 0);
      logSums[row] = most + Math.log(total);
      for (let d = 0; d < dim; d++) {
        out[row * dim + d] = powers.reduce((sum, power, j) => sum + power * v[j * dim + d], 0) / total;
      }
    }
  },
  outputs: { out: { absolute: 5e-6 }, logSums: { absolute: 1e-5 } },
});
