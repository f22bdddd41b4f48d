import { kernelFixture } from '../kernelFixture.js';
import { longWords, words } from '../seededInputs.js';

const n = 90;

const bitsOf = (value: bigint, width: number): string => value.toString(2).padStart(width, '0');
const reversed = (value: bigint, width: number): bigint =>
  BigInt(`0b${[...bitsOf(value, width)].reverse().join('')}`);
const ones = (value: bigint): number => bitsOf(value, 1).replaceAll('0', '').length;
const leading = (value: bigint, width: number): number => {
  const first = bitsOf(value, width).indexOf('1');
  return first < 0 ? width : first;
};
/** Place of the lowest set bit from 1; 0 when there is none. */
const lowest = (value: bigint, width: number): number => {
  const last = bitsOf(value, width).lastIndexOf('1');
  return last < 0 ? 0 : width - last;
};
const byteOf = (value: number, index: number): number => (value >>> (8 * index)) & 255;

/** Remainder of the polynomial 0x04C11DB7, bit by bit, reflected. */
function crc32(word: number): number {
  let c = 0xffffffff;
  for (let bit = 0; bit < 32; bit++) {
    const out = (c ^ (word >>> bit)) & 1;
    c = (c >>> 1) ^ (out === 1 ? 0xedb88320 : 0);
  }
  return ~c;
}

function row(v: number, wide: bigint): number[] {
  const narrow = Number(BigInt.asUintN(32, wide));
  const big = BigInt(v);
  const eight = [0, 1, 2, 3].map((i) => byteOf(v, i)).concat([0, 1, 2, 3].map((i) => byteOf(narrow, i)));
  const selector = 0x1046 + (v & 7);
  const permuted = [0, 1, 2, 3].map((i) => eight[(selector >> (4 * i)) & 7] * 2 ** (8 * i));
  const r = reversed(wide, 64);
  const [start, length] = [v & 31, (v >>> 5) & 15];
  const field = (big >> BigInt(start)) & ((1n << BigInt(length)) - 1n);
  const [at, count] = [(v >>> 9) & 31, (v >>> 14) & 31];
  const mask = BigInt.asUintN(32, ((1n << BigInt(count)) - 1n) << BigInt(at));
  const put = (big & ~mask) | ((BigInt(narrow) << BigInt(at)) & mask);
  const spread = [...bitsOf(BigInt(v & 0xffff), 16)].join('0');
  const turned = (((big << 32n) | BigInt(narrow)) << BigInt(v & 31)) >> 32n;
  const lanes = [0, 1, 2, 3].map((i) => [byteOf(v, i), byteOf(narrow, i)] as const);
  const packed = (op: (a: number, b: number) => number): number =>
    lanes.reduce((sum, [a, b], i) => sum + (op(a, b) & 255) * 2 ** (8 * i), 0);
  const bytes = packed((a, b) => a + b) ^ packed((a, b) => Math.abs(a - b));
  return [
    ones(big) | (leading(big, 32) << 8) | (lowest(big, 32) << 16) | (ones(wide) << 24),
    Number(reversed(big, 32)),
    Number((r ^ (r >> 32n)) & 0xffffffffn),
    permuted.reduce((a, b) => a + b),
    leading(wide, 64) | (lowest(wide, 64) << 8),
    crc32(v),
    Number(field),
    Number(put),
    Number(BigInt(`0b${spread}`)),
    Number(BigInt.asUintN(32, turned)),
    nextPermutation(v),
    bytes ^ (Math.abs(v - narrow) + 7),
  ];
}

/** The next larger word with as many ones, within 32 bits. */
function nextPermutation(v: number): number {
  if (v === 0) return 0;
  const low = BigInt.asUintN(32, BigInt(v) | (BigInt(v) - 1n));
  const up = BigInt.asUintN(32, low + 1n);
  const tail = BigInt.asUintN(32, (BigInt.asUintN(32, ~low) & up) - 1n);
  return Number(up | (tail >> BigInt(lowest(BigInt(v), 32) & 31)));
}

export const bitTricks = kernelFixture({
  ptx: new URL('./bitTricks.ptx', import.meta.url),
  buffers: () => {
    const x = words(n, 167);
    x.set([0, 1, 0x80000000, 0xffffffff, 0x00ff00ff]);
    const wide = longWords(n, 168);
    wide.set([0n, 1n << 63n, 1n, 2n ** 64n - 1n]);
    return { x, wide, out: new Uint32Array(12 * n) };
  },
  launches: [
    {
      kernel: 'bitTricks',
      grid: 2,
      block: 64,
      args: [{ buffer: 'x' }, { buffer: 'wide' }, { buffer: 'out' }, { i32: n }],
    },
  ],
  reference: ({ x, wide, out }) => x.forEach((v, i) => out.set(row(v, wide[i]), 12 * i)),
  outputs: { out: 'exact' },
});
