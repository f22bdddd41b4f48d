import { SeededRandom } from '../../random/index.js';

const EDGES = [
  0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000, 0x7e800000, 0x7e7fffff,
  0x7e800001, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x40400000,
];

/** Bit patterns of single floats: every pair of edges first, then ordinary numbers of all sizes. Always the same. */
export function mix(count: number): Uint32Array {
  const found = new Uint32Array(count);
  const random = new SeededRandom(12345);
  const next = (): number => random.word() >>> 0;
  const pairs = EDGES.flatMap((one) => EDGES.flatMap((other) => [one, other]));
  for (let index = 0; index < count; index++) {
    const near = (0x3f000000 + (next() >>> 7)) >>> 0;
    found[index] = pairs[index] ?? (index % 3 === 0 ? (next() ^ (next() >>> 16)) >>> 0 : near);
  }
  return found;
}
