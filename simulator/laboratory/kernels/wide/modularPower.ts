import { kernelFixture } from '../kernelFixture.js';
import { longWords } from '../seededInputs.js';

const n = 40;

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n % modulus;
  let square = base % modulus;
  for (let e = exponent; e > 0n; e >>= 1n) {
    if (e & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

export const modularPower = kernelFixture({
  ptx: new URL('./modularPower.ptx', import.meta.url),
  buffers: () => ({
    bases: longWords(n, 162),
    exponents: longWords(n, 163).map((word, i) => word >> BigInt(i)),
    // Odd, of all sizes; the first near 2^64.
    moduli: longWords(n, 164).map((word, i) => (i === 0 ? 2n ** 64n - 59n : (word >> BigInt(i)) | 1n)),
    powers: new BigUint64Array(n),
    remainders: new BigUint64Array(n),
  }),
  launches: [
    {
      kernel: 'modularPower',
      grid: 2,
      block: 32,
      args: [
        { buffer: 'bases' },
        { buffer: 'exponents' },
        { buffer: 'moduli' },
        { buffer: 'powers' },
        { buffer: 'remainders' },
        { i32: n },
      ],
    },
  ],
  reference: ({ bases, exponents, moduli, powers, remainders }) =>
    moduli.forEach((modulus, i) => {
      powers[i] = power(bases[i], exponents[i], modulus);
      remainders[i] = (bases[i] * exponents[i]) % modulus;
    }),
  outputs: { powers: 'exact', remainders: 'exact' },
});
