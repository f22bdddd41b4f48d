import { kernelFixture } from '../kernelFixture.js';

const n = 120;
const seed = 0x243f6a8885a308d3n;
const stream = 42;
const low32 = (value: bigint): bigint => value & 0xffffffffn;

/** Salmon et al., "Parallel random numbers: as easy as 1, 2, 3". */
function philoxWords(counter: bigint[]): bigint[] {
  let [key0, key1] = [low32(seed), seed >> 32n];
  let c = counter;
  for (let round = 0; round < 10; round++) {
    const [a, b] = [0xd2511f53n * c[0], 0xcd9e8d57n * c[2]];
    c = [(b >> 32n) ^ c[1] ^ key0, low32(b), (a >> 32n) ^ c[3] ^ key1, low32(a)];
    key0 = low32(key0 + 0x9e3779b9n);
    key1 = low32(key1 + 0xbb67ae85n);
  }
  return c;
}

export const philox = kernelFixture({
  ptx: new URL('./philox.ptx', import.meta.url),
  buffers: () => ({ out: new Uint32Array(4 * n), uniforms: new Float32Array(4 * n) }),
  launches: [
    {
      kernel: 'philox',
      grid: 2,
      block: 64,
      args: [{ buffer: 'out' }, { buffer: 'uniforms' }, { u64: seed }, { u32: stream }, { i32: n }],
    },
  ],
  reference: ({ out, uniforms }) => {
    for (let i = 0; i < n; i++) {
      out.set(philoxWords([BigInt(i), BigInt(i >> 16), BigInt(stream), 0n]).map(Number), 4 * i);
    }
    out.forEach((word, i) => (uniforms[i] = (word >>> 8) / 2 ** 24));
  },
  outputs: { out: 'exact', uniforms: 'exact' },
});
