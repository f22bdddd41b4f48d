import {
  fromBfloat,
  fromHalf,
  hash,
  integers,
  kernelFixture,
  toBfloat,
  toHalf,
  uniform,
  words,
} from '../../kernels/index.js';
import { decodeNumber } from '../../../tensor/index.js';
import { cutToTf32, nibble, ones, products } from './references.js';

const [m, n, k] = [64, 64, 128];
const extents = [m, n, k] as const;

function file(name: string): URL {
  return new URL(`./${name}.ptx`, import.meta.url);
}

const halves = (count: number, seed: number): Uint16Array => Uint16Array.from(uniform(count, seed), toHalf);
const tiles = { grid: [n / 8, m / 16], block: 32 } as const;

export const mmaHalf = kernelFixture({
  ptx: file('mmaHalf'),
  buffers: () => ({ a: halves(m * k, 321), b: halves(k * n, 322), c: new Float32Array(m * n) }),
  launches: [
    {
      kernel: 'mmaHalf',
      grid: [n / 64, m / 64],
      block: 128,
      args: [{ buffer: 'a' }, { buffer: 'b' }, { buffer: 'c' }, { i32: n }, { i32: k }],
    },
  ],
  reference: ({ a, b, c }) =>
    c.set(
      products(
        extents,
        (row, at) => fromHalf(a[row * k + at]),
        (at, column) => fromHalf(b[at * n + column]),
      ),
    ),
  outputs: { c: { absolute: 1e-4 } },
});

/** Whole numbers small enough that sums in f16 are exact. */
export const mmaHalfAccumulate = kernelFixture({
  ptx: file('mmaHalfAccumulate'),
  buffers: () => ({
    a: Uint16Array.from(integers(m * k, 323, -3, 4), toHalf),
    b: Uint16Array.from(integers(k * n, 324, -3, 4), toHalf),
    c: new Uint16Array(m * n),
  }),
  launches: [
    {
      kernel: 'mmaHalfAccumulate',
      ...tiles,
      args: [{ buffer: 'a' }, { buffer: 'b' }, { buffer: 'c' }, { i32: n }, { i32: k }],
    },
  ],
  reference: ({ a, b, c }) =>
    c.set(
      products(
        extents,
        (row, at) => fromHalf(a[row * k + at]),
        (at, column) => fromHalf(b[column * k + at]),
      ).map(toHalf),
    ),
  outputs: { c: 'exact' },
});

/** Bytes of eighths without NaN and infinities. */
function eighths(count: number, seed: number): Uint8Array {
  return Uint8Array.from({ length: count }, (_, at) => {
    const bits = hash(at, seed);
    return (bits & 0x80) | (0x28 + ((bits >>> 8) % 0x18));
  });
}

export const mmaEighths = kernelFixture({
  ptx: file('mmaEighths'),
  buffers: () => ({
    a: eighths(m * k, 325),
    b: eighths(k * n, 326),
    rowScale: uniform(m, 327, 0.5, 2),
    columnScale: uniform(n, 328, 0.5, 2),
    c: new Float32Array(m * n),
  }),
  launches: [
    {
      kernel: 'mmaEighths',
      ...tiles,
      args: [
        { buffer: 'a' },
        { buffer: 'b' },
        { buffer: 'rowScale' },
        { buffer: 'columnScale' },
        { buffer: 'c' },
        { i32: n },
        { i32: k },
      ],
    },
  ],
  reference: ({ a, b, rowScale, columnScale, c }) =>
    c.set(
      products(
        extents,
        (row, at) => decodeNumber('e4m3', a[row * k + at] ?? 0),
        (at, column) => decodeNumber('e5m2', b[column * k + at] ?? 0),
      ).map((sum, at) => sum * (rowScale[Math.floor(at / n)] ?? 0) * (columnScale[at % n] ?? 0)),
    ),
  outputs: { c: { absolute: 0.05, relative: 1e-3 } },
});

export const mmaNibbles = kernelFixture({
  ptx: file('mmaNibbles'),
  buffers: () => ({
    a: words((m * k) / 8, 329),
    b: words((k * n) / 8, 330),
    // Every fourth column begins just below the largest integer.
    bias: integers(n, 331, -1000, 1000).map((bias, column) => (column % 4 === 0 ? 0x7fffffff - 50 : bias)),
    c: new Int32Array(m * n),
  }),
  launches: [
    {
      kernel: 'mmaNibbles',
      ...tiles,
      args: [{ buffer: 'a' }, { buffer: 'b' }, { buffer: 'bias' }, { buffer: 'c' }, { i32: n }, { i32: k }],
    },
  ],
  reference: ({ a, b, bias, c }) => {
    for (let at = 0; at < m * n; at++) {
      const [row, column] = [Math.floor(at / n), at % n];
      let sum = bias[column] ?? 0;
      for (let first = 0; first < k; first += 64) {
        for (let inner = first; inner < first + 64; inner++)
          sum += ((nibble(a, row * k + inner) << 28) >> 28) * nibble(b, column * k + inner);
        // Clamped after every instruction.
        sum = Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, sum));
      }
      c[at] = sum;
    }
  },
  outputs: { c: 'exact' },
});

const bits = 512;

export const mmaBits = kernelFixture({
  ptx: file('mmaBits'),
  buffers: () => ({
    a: words((m * bits) / 32, 332),
    b: words((bits * n) / 32, 333),
    different: new Int32Array(m * n),
    common: new Int32Array(m * n),
  }),
  launches: [
    {
      kernel: 'mmaBits',
      ...tiles,
      args: [
        { buffer: 'a' },
        { buffer: 'b' },
        { buffer: 'different' },
        { buffer: 'common' },
        { i32: n },
        { i32: bits },
      ],
    },
  ],
  reference: ({ a, b, different, common }) => {
    for (let at = 0; at < m * n; at++) {
      for (let word = 0; word < bits / 32; word++) {
        const left = a[(Math.floor(at / n) * bits) / 32 + word] ?? 0;
        const right = b[((at % n) * bits) / 32 + word] ?? 0;
        different[at] = (different[at] ?? 0) + ones(left ^ right);
        common[at] = (common[at] ?? 0) + ones(left & right);
      }
    }
  },
  outputs: { different: 'exact', common: 'exact' },
});

const sortedPairs = [
  [0, 1],
  [0, 2],
  [0, 3],
  [1, 2],
  [1, 3],
  [2, 3],
] as const;

/** Which two of the four columns of a chunk stayed. */
function pairOf(row: number, chunk: number): readonly [number, number] {
  return sortedPairs[hash(row * (k / 4) + chunk, 334) % 6] ?? [0, 1];
}

export const mmaSparse = kernelFixture({
  ptx: file('mmaSparse'),
  buffers: () => {
    const metadata = new Uint32Array((m / 16) * (k / 16) * 8);
    for (let row = 0; row < m; row++) {
      for (let chunk = 0; chunk < k / 4; chunk++) {
        const [first, second] = pairOf(row, chunk);
        const word = (Math.floor(row / 16) * (k / 16) + (chunk >> 2)) * 8 + (row % 8);
        const shift = (row % 16 < 8 ? 0 : 16) + 4 * (chunk & 3);
        metadata[word] = ((metadata[word] ?? 0) | ((first | (second << 2)) << shift)) >>> 0;
      }
    }
    return { a: halves((m * k) / 2, 335), metadata, b: halves(k * n, 336), c: new Float32Array(m * n) };
  },
  launches: [
    {
      kernel: 'mmaSparse',
      ...tiles,
      args: [
        { buffer: 'a' },
        { buffer: 'metadata' },
        { buffer: 'b' },
        { buffer: 'c' },
        { i32: n },
        { i32: k },
      ],
    },
  ],
  reference: ({ a, b, c }) =>
    c.forEach((_, at) => {
      const [row, column] = [Math.floor(at / n), at % n];
      let sum = 0;
      for (let kept = 0; kept < k / 2; kept++) {
        const inner = (kept >> 1) * 4 + (pairOf(row, kept >> 1)[kept & 1] ?? 0);
        sum += fromHalf(a[(row * k) / 2 + kept]) * fromHalf(b[column * k + inner]);
      }
      c[at] = sum;
    }),
  outputs: { c: { absolute: 1e-4 } },
});

export const mmaTf32 = kernelFixture({
  ptx: file('mmaTf32'),
  buffers: () => ({
    a: uniform(m * k, 337),
    b: uniform(k * n, 338),
    bias: uniform(n, 339),
    c: new Float32Array(m * n),
  }),
  launches: [
    {
      kernel: 'mmaTf32',
      ...tiles,
      args: [{ buffer: 'a' }, { buffer: 'b' }, { buffer: 'bias' }, { buffer: 'c' }, { i32: n }, { i32: k }],
    },
  ],
  reference: ({ a, b, bias, c }) =>
    c.set(
      products(
        extents,
        (row, at) => cutToTf32(a[row * k + at] ?? 0),
        (at, column) => cutToTf32(b[at * n + column] ?? 0),
      ).map((sum, at) => Math.max(0, sum + (bias[at % n] ?? 0))),
    ),
  outputs: { c: { absolute: 2e-4 } },
});

const share = 256;
const shares = 4;
const long = share * shares;

export const splitK = kernelFixture({
  ptx: file('splitK'),
  buffers: () => ({
    a: halves(16 * long, 340),
    b: halves(long * 24, 341),
    parts: new Float32Array(shares * 16 * 24),
    c: new Float32Array(16 * 24),
  }),
  launches: [
    {
      kernel: 'splitParts',
      grid: [3, 1, shares],
      block: 32,
      args: [
        { buffer: 'a' },
        { buffer: 'b' },
        { buffer: 'parts' },
        { i32: 16 },
        { i32: 24 },
        { i32: long },
        { i32: share },
      ],
    },
    {
      kernel: 'splitSum',
      grid: 3,
      block: 128,
      args: [{ buffer: 'parts' }, { buffer: 'c' }, { i32: 16 * 24 }, { i32: shares }],
    },
  ],
  reference: ({ a, b, parts, c }) => {
    const sums = new Float64Array(16 * 24);
    for (let part = 0; part < shares; part++) {
      const own = products(
        [16, 24, share],
        (row, at) => fromHalf(a[row * long + part * share + at]),
        (at, column) => fromHalf(b[column * long + part * share + at]),
      );
      parts.set(own, part * 16 * 24);
      own.forEach((sum, at) => (sums[at] = (sums[at] ?? 0) + sum));
    }
    c.set(sums);
  },
  outputs: { parts: { absolute: 5e-4 }, c: { absolute: 2e-3 } },
});

export const pipelinedBfloat = kernelFixture({
  ptx: file('pipelinedBfloat'),
  buffers: () => ({
    a: Uint16Array.from(uniform(m * 192, 342), toBfloat),
    b: Uint16Array.from(uniform(192 * n, 343), toBfloat),
    c: new Float32Array(m * n),
  }),
  launches: [
    {
      kernel: 'pipelinedBfloat',
      grid: [n / 64, m / 64],
      block: 128,
      dynamicSharedBytes: 3 * 2 * 64 * 32 * 2,
      args: [{ buffer: 'a' }, { buffer: 'b' }, { buffer: 'c' }, { i32: n }, { i32: 192 }],
    },
  ],
  reference: ({ a, b, c }) =>
    c.set(
      products(
        [m, n, 192],
        (row, at) => fromBfloat(a[row * 192 + at]),
        (at, column) => fromBfloat(b[column * 192 + at]),
      ),
    ),
  outputs: { c: { absolute: 2e-4 } },
});

export const matrixMoves = kernelFixture({
  ptx: file('matrixMoves'),
  buffers: () => ({
    in: Uint16Array.from(words(16 * 64, 344)),
    out: new Uint16Array(16 * 64),
  }),
  launches: [
    {
      kernel: 'matrixMoves',
      grid: [2, 2],
      block: 32,
      args: [{ buffer: 'in' }, { buffer: 'out' }, { i32: 64 }],
    },
  ],
  reference: ({ in: from, out }) =>
    from.forEach((value, at) => {
      out[(at % 64) * 16 + Math.floor(at / 64)] = value;
    }),
  outputs: { out: 'exact' },
});
