import { kernelFixture } from '../kernelFixture.js';
import { uniformDoubles } from '../seededInputs.js';

const [size, batch] = [12, 3];

export const luBlocks = kernelFixture({
  ptx: new URL('./luBlocks.ptx', import.meta.url),
  buffers: () => ({
    matrices: uniformDoubles(size * size * batch, 188, -4, 4),
    pivots: new Int32Array(size * batch),
    determinants: new Float64Array(batch),
  }),
  launches: [
    {
      kernel: 'luBlocks',
      grid: batch,
      block: size * size,
      args: [{ buffer: 'matrices' }, { buffer: 'pivots' }, { buffer: 'determinants' }],
    },
  ],
  reference: ({ matrices, pivots, determinants }) => {
    for (let b = 0; b < batch; b++) {
      const rows = Array.from({ length: size }, (_, r) => {
        const first = (b * size + r) * size;
        return matrices.subarray(first, first + size);
      });
      determinants[b] = 1;
      for (let k = 0; k < size; k++) {
        let best = k;
        for (let r = k + 1; r < size; r++) if (Math.abs(rows[r][k]) > Math.abs(rows[best][k])) best = r;
        pivots[b * size + k] = best;
        const kept = rows[k].slice();
        rows[k].set(rows[best]);
        if (best !== k) rows[best].set(kept);
        determinants[b] *= best === k ? rows[k][k] : -rows[k][k];
        for (const row of rows.slice(k + 1)) {
          row[k] /= rows[k][k];
          for (let c = k + 1; c < size; c++) row[c] -= row[k] * rows[k][c];
        }
      }
    }
  },
  outputs: { matrices: 'exact', pivots: 'exact', determinants: 'exact' },
});
