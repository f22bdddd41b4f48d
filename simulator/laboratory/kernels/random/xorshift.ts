import { kernelFixture } from '../kernelFixture.js';

const [threads, draws] = [64, 10];
const seed = 20_240_229n;
const u64 = (value: bigint): bigint => BigInt.asUintN(64, value);

function splitmix(start: bigint): () => bigint {
  let z = start;
  return () => {
    z = u64(z + 0x9e3779b97f4a7c15n);
    let v = u64((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    v = u64((v ^ (v >> 27n)) * 0x94d049bb133111ebn);
    return v ^ (v >> 31n);
  };
}

const count = {
  kernel: 'countInside',
  grid: 2,
  block: 32,
  args: [{ buffer: 'states' }, { buffer: 'inside' }, { buffer: 'words' }, { i32: draws }],
} as const;

export const xorshift = kernelFixture({
  ptx: new URL('./xorshift.ptx', import.meta.url),
  buffers: () => ({
    states: new BigUint64Array(3 * threads),
    inside: new Uint32Array(threads),
    words: new Uint32Array(threads),
  }),
  launches: [
    { kernel: 'seedStates', grid: 2, block: 32, args: [{ buffer: 'states' }, { u64: seed }] },
    count,
    count,
  ],
  reference: ({ states, inside, words }) => {
    for (let i = 0; i < threads; i++) {
      const mix = splitmix(u64(seed + BigInt(i) * 0x9e3779b97f4a7c15n));
      let [a, b, pcg] = [mix(), mix(), mix()];
      for (let draw = 0; draw < 2 * draws; draw++) {
        const x = a ^ u64(a << 23n);
        [a, b] = [b, x ^ b ^ (x >> 17n) ^ (b >> 26n)];
        const bits = u64(b + a);
        const shifted = BigInt.asUintN(32, ((pcg >> 18n) ^ pcg) >> 27n);
        const rotation = pcg >> 59n;
        pcg = u64(pcg * 6364136223846793005n + 1442695040888963407n);
        const word = BigInt.asUintN(32, (shifted >> rotation) | (shifted << (32n - rotation)));
        const [px, py] = [Number(bits >> 11n) / 2 ** 53, Number(word) / 2 ** 32];
        if (px * px + py * py < 1) inside[i]++;
        words[i] = Number(BigInt.asUintN(32, bits));
      }
      states.set([a, b, pcg], 3 * i);
    }
  },
  outputs: { states: 'exact', inside: 'exact', words: 'exact' },
});
