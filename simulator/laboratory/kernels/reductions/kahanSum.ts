import { kernelFixture } from '../kernelFixture.js';
import { uniformDoubles } from '../seededInputs.js';

const n = 900;

export const kahanSum = kernelFixture({
  ptx: new URL('./kahanSum.ptx', import.meta.url),
  buffers: () => ({
    // Magnitudes from 1e-10 to 1e15, so that plain sums lose digits.
    x: uniformDoubles(n, 15).map((value, i) => value * 10 ** ((i % 26) - 10)),
    compensated: new Float64Array(64),
    naive: new Float64Array(64),
    total: new Float64Array(1),
  }),
  launches: [
    {
      kernel: 'kahanSum',
      grid: 1,
      block: 64,
      args: [
        { buffer: 'x' },
        { buffer: 'compensated' },
        { buffer: 'naive' },
        { buffer: 'total' },
        { i32: n },
      ],
    },
  ],
  reference: ({ x, compensated, naive, total }) => {
    const rests = new Float64Array(64);
    x.forEach((value, i) => {
      const t = i % 64;
      const y = value - rests[t];
      const next = compensated[t] + y;
      rests[t] = next - compensated[t] - y;
      compensated[t] = next;
      naive[t] += value;
    });
    let [sum, carried] = [0, 0];
    compensated.forEach((v, t) => {
      const next = sum + v;
      carried += Math.abs(sum) >= Math.abs(v) ? sum - next + v : v - next + sum;
      carried += -rests[t];
      sum = next;
    });
    total[0] = sum + carried;
  },
  outputs: { compensated: 'exact', naive: 'exact', total: 'exact' },
});
