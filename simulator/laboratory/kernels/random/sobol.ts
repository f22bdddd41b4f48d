import { kernelFixture } from '../kernelFixture.js';

const n = 180;
/** Joe and Kuo's first dimensions: degree, coefficients, and the initial odd numbers. */
const dimensions = [
  { degree: 0, a: 0, m: [] },
  { degree: 1, a: 0, m: [1] },
  { degree: 2, a: 1, m: [1, 3] },
];

/** Direction numbers m_i by the recurrence of the primitive polynomial, as fractions of 2^32. */
function directionsOf({ degree, a, m: first }: (typeof dimensions)[number]): number[] {
  const m: number[] = [...first];
  for (let i = degree; i < 32; i++) {
    if (degree === 0) {
      m.push(1);
      continue;
    }
    let next = BigInt(m[i - degree]) ^ (BigInt(m[i - degree]) << BigInt(degree));
    for (let k = 1; k < degree; k++) {
      if ((a >> (degree - 1 - k)) & 1) next ^= BigInt(m[i - k]) << BigInt(k);
    }
    m.push(Number(next));
  }
  return m.map((value, i) => value * 2 ** (31 - i));
}

export const sobol = kernelFixture({
  ptx: new URL('./sobol.ptx', import.meta.url),
  buffers: () => ({ table: new Uint32Array(96), points: new Uint32Array(3 * n) }),
  launches: [
    { kernel: 'makeDirections', grid: 1, block: 32, args: [{ buffer: 'table' }] },
    {
      kernel: 'sobol',
      grid: [2, 3],
      block: 64,
      args: [{ buffer: 'table' }, { buffer: 'points' }, { i32: n }],
    },
  ],
  reference: ({ table, points }) =>
    dimensions.forEach((dimension, d) => {
      const directions = directionsOf(dimension);
      table.set(directions, 32 * d);
      // Antonov and Saleev: the next point differs in the direction of the lowest zero bit.
      let x = 0;
      for (let i = 0; i < n; i++) {
        points[d * n + i] = x;
        x = (x ^ directions[31 - Math.clz32(~i & (i + 1))]) >>> 0;
      }
    }),
  outputs: { table: 'exact', points: 'exact' },
});
