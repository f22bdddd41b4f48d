import { kernelFixture } from '../kernelFixture.js';
import { words } from '../seededInputs.js';

const n = 40;

const toBig = (limbs: Uint32Array): bigint =>
  limbs.reduceRight((value, limb) => (value << 32n) | BigInt(limb), 0n);

function limbsOf(value: bigint, count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, k) => Number(BigInt.asUintN(32, value >> BigInt(32 * k))));
}

export const bigIntegers = kernelFixture({
  ptx: new URL('./bigIntegers.ptx', import.meta.url),
  buffers: () => {
    const [a, b] = [words(8 * n, 165), words(8 * n, 166)];
    // Carries through every limb, and none.
    a.fill(0xffffffff, 0, 8);
    b.fill(0, 0, 8).fill(1, 0, 1);
    a.fill(0, 8, 16);
    b.fill(0xffffffff, 8, 16);
    a.fill(0xffffffff, 16, 24);
    b.fill(0xffffffff, 16, 24);
    return {
      a,
      b,
      sums: new Uint32Array(9 * n),
      differences: new Uint32Array(9 * n),
      products: new Uint32Array(16 * n),
    };
  },
  launches: [
    {
      kernel: 'bigIntegers',
      grid: 1,
      block: 64,
      args: [
        { buffer: 'a' },
        { buffer: 'b' },
        { buffer: 'sums' },
        { buffer: 'differences' },
        { buffer: 'products' },
        { i32: n },
      ],
    },
  ],
  reference: ({ a, b, sums, differences, products }) => {
    for (let i = 0; i < n; i++) {
      const [x, y] = [toBig(a.subarray(8 * i, 8 * i + 8)), toBig(b.subarray(8 * i, 8 * i + 8))];
      sums.set(limbsOf(x + y, 9), 9 * i);
      // The ninth limb is the borrow: all ones below zero.
      differences.set(limbsOf(x - y, 9), 9 * i);
      products.set(limbsOf(x * y, 16), 16 * i);
    }
  },
  outputs: { sums: 'exact', differences: 'exact', products: 'exact' },
});
