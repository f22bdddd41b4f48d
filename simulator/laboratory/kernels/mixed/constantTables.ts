import { kernelFixture } from '../kernelFixture.js';

const n = 80;
const entries = [
  { code: 7, weight: 1.5, name: 'alpha' },
  { code: -9, weight: 2.25, name: 'be' },
  { code: 11, weight: -0.75, name: 'pha' },
];
const powers = [1n, 1000000007n, 1000000014000000049n, BigInt.asIntN(64, 0xdeadbeefcafef00dn)];
const reciprocals = [1, 0.5, 1 / 3, 0.25, 0.2];
const read = (out: 'before' | 'after') =>
  ({
    kernel: 'readTables',
    grid: 2,
    block: 48,
    args: [{ buffer: out }, { buffer: 'weights' }, { i32: n }],
  }) as const;

export const constantTables = kernelFixture({
  ptx: new URL('./constantTables.ptx', import.meta.url),
  buffers: () => ({
    before: new BigInt64Array(n),
    after: new BigInt64Array(n),
    weights: new Float64Array(n),
    seen: new Int32Array(32),
  }),
  launches: [
    read('before'),
    { kernel: 'changeTables', grid: 1, block: 32, args: [{ buffer: 'seen' }] },
    read('after'),
  ],
  reference: ({ before, after, weights, seen }) => {
    for (let i = 0; i < n; i++) {
      const { code, weight, name } = entries[i % 3];
      const letters = [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
      const byte = (i % 7) + 1;
      const small = (byte % 2 === 0 ? byte : -byte) * 1000 + code + name.length * 100_000 + letters;
      before[i] = powers[i % 4] + BigInt(small);
      after[i] = before[i] + 1000n;
      weights[i] = reciprocals[i % 5] * weight;
    }
    seen.fill(100 + (31 * 32) / 2);
  },
  outputs: { before: 'exact', after: 'exact', weights: 'exact', seen: 'exact' },
});
