import { fromHalf, integers, kernelFixture, toHalf, uniform, uniformDoubles } from '../../kernels/index.js';
import { products } from './references.js';

function file(name: string): URL {
  return new URL(`./${name}.ptx`, import.meta.url);
}

const halves = (count: number, seed: number): Uint16Array => Uint16Array.from(uniform(count, seed), toHalf);

/** Shares of two steps or three, five steps a tile: some tiles have three blocks, some begin with a share. */
const stream = { m: 128, n: 64, k: 160, blocks: 9 } as const;
const streamTiles = (stream.m / 64) * (stream.n / 32);

export const streamK = kernelFixture({
  ptx: file('streamK'),
  buffers: () => ({
    a: halves(stream.m * stream.k, 361),
    b: halves(stream.k * stream.n, 362),
    c: new Float32Array(stream.m * stream.n),
    parts: new Float32Array(stream.blocks * 64 * 32),
  }),
  launches: [
    {
      kernel: 'streamKShares',
      grid: stream.blocks,
      block: 128,
      args: [
        { buffer: 'a' },
        { buffer: 'b' },
        { buffer: 'c' },
        { buffer: 'parts' },
        { i32: stream.m },
        { i32: stream.n },
        { i32: stream.k },
      ],
    },
    {
      kernel: 'streamKFix',
      grid: streamTiles,
      block: 128,
      args: [
        { buffer: 'parts' },
        { buffer: 'c' },
        { i32: stream.n },
        { i32: stream.k / 32 },
        { i32: stream.blocks },
      ],
    },
  ],
  reference: ({ a, b, c }) =>
    c.set(
      products(
        [stream.m, stream.n, stream.k],
        (row, at) => fromHalf(a[row * stream.k + at]),
        (at, column) => fromHalf(b[column * stream.k + at]),
      ),
    ),
  outputs: { c: { absolute: 2e-4 } },
});

const bytes = { m: 64, n: 64, k: 256 } as const;

/** To the nearest whole number, halves to the even one, within a signed byte. */
function toByte(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  const nearest = rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? below + 1 : below;
  return Math.max(-128, Math.min(127, nearest));
}

export const gemmBytesPipelined = kernelFixture({
  ptx: file('gemmBytesPipelined'),
  buffers: () => ({
    a: Int8Array.from(integers(bytes.m * bytes.k, 363, -128, 128)),
    b: Int8Array.from(integers(bytes.k * bytes.n, 364, -128, 128)),
    bias: integers(bytes.n, 365, -20_000, 20_000),
    // The powers of two among them make halves that are to be rounded to even.
    scales: uniform(bytes.n, 366, 0.0005, 0.002).map((scale, channel) =>
      channel % 4 === 0 ? 2 ** -10 : scale,
    ),
    c: new Int8Array(bytes.m * bytes.n),
  }),
  launches: [
    {
      kernel: 'gemmBytesPipelined',
      grid: [bytes.n / 32, bytes.m / 64],
      block: 128,
      args: [
        { buffer: 'a' },
        { buffer: 'b' },
        { buffer: 'bias' },
        { buffer: 'scales' },
        { buffer: 'c' },
        { i32: bytes.n },
        { i32: bytes.k },
      ],
    },
  ],
  reference: ({ a, b, bias, scales, c }) =>
    c.set(
      products(
        [bytes.m, bytes.n, bytes.k],
        (row, at) => a[row * bytes.k + at] ?? 0,
        (at, column) => b[column * bytes.k + at] ?? 0,
      ).map((sum, at) => {
        const channel = at % bytes.n;
        return toByte(Math.fround((sum + (bias[channel] ?? 0)) * (scales[channel] ?? 0)));
      }),
    ),
  outputs: { c: 'exact' },
});

/** Two products of sixteen steps, then two of four. */
const doubles = { m: 64, n: 48, k: 40, alpha: 1.25, beta: -0.5 } as const;

export const gemmDoubleMma = kernelFixture({
  ptx: file('gemmDoubleMma'),
  buffers: () => ({
    a: uniformDoubles(doubles.m * doubles.k, 367),
    b: uniformDoubles(doubles.k * doubles.n, 368),
    c: uniformDoubles(doubles.m * doubles.n, 369),
  }),
  launches: [
    {
      kernel: 'gemmDoubleMma',
      grid: [doubles.n / 16, doubles.m / 32],
      block: 128,
      args: [
        { buffer: 'a' },
        { buffer: 'b' },
        { buffer: 'c' },
        { i32: doubles.n },
        { i32: doubles.k },
        { f64: doubles.alpha },
        { f64: doubles.beta },
      ],
    },
  ],
  reference: ({ a, b, c }) =>
    c.set(
      products(
        [doubles.m, doubles.n, doubles.k],
        (row, at) => a[row * doubles.k + at] ?? 0,
        (at, column) => b[at * doubles.n + column] ?? 0,
      ).map((sum, at) => doubles.alpha * sum + doubles.beta * (c[at] ?? 0)),
    ),
  outputs: { c: { absolute: 1e-13 } },
});

/** m, n, k of each problem: whole tiles, ragged ones, less than one. */
const group = [
  [64, 32, 64],
  [17, 40, 24],
  [5, 3, 8],
  [33, 65, 104],
] as const;

function total(size: (extents: readonly [number, number, number]) => number): number {
  return group.reduce((sum, extents) => sum + size(extents), 0);
}

export const groupedGemm = kernelFixture({
  ptx: file('groupedGemm'),
  buffers: () => ({
    /** Three pointers and three extents, padded to a multiple of eight bytes. */
    problems: new BigUint64Array(group.length * 5),
    a: halves(
      total(([m, , k]) => m * k),
      381,
    ),
    b: halves(
      total(([, n, k]) => n * k),
      382,
    ),
    c: new Float32Array(total(([m, n]) => m * n)),
    extents: Int32Array.from(group.flat()),
  }),
  launches: [
    {
      kernel: 'groupedDescribe',
      grid: 1,
      block: 32,
      args: [
        { buffer: 'problems' },
        { buffer: 'a' },
        { buffer: 'b' },
        { buffer: 'c' },
        { buffer: 'extents' },
        { i32: group.length },
      ],
    },
    {
      kernel: 'groupedGemm',
      grid: 5,
      block: 64,
      args: [{ buffer: 'problems' }, { i32: group.length }],
    },
  ],
  reference: ({ a, b, c }) => {
    let [fromA, fromB, fromC] = [0, 0, 0];
    for (const [m, n, k] of group) {
      const left = a.subarray(fromA, (fromA += m * k));
      const right = b.subarray(fromB, (fromB += n * k));
      c.set(
        products(
          [m, n, k],
          (row, at) => fromHalf(left[row * k + at]),
          (at, column) => fromHalf(right[column * k + at]),
        ),
        fromC,
      );
      fromC += m * n;
    }
  },
  outputs: { c: { absolute: 1e-4 } },
});

const batch = { count: 3, m: 64, n: 64, k: 64 } as const;

/** Whole numbers small enough that sums in f16 are exact. */
export const batchedTransposed = kernelFixture({
  ptx: file('batchedTransposed'),
  buffers: () => ({
    a: Uint16Array.from(integers(batch.count * batch.k * batch.m, 383, -4, 5), toHalf),
    b: Uint16Array.from(integers(batch.count * batch.k * batch.n, 384, -4, 5), toHalf),
    c: new Uint16Array(batch.count * batch.m * batch.n),
  }),
  launches: [
    {
      kernel: 'batchedTransposed',
      grid: [batch.n / 32, batch.m / 64, batch.count],
      block: 128,
      args: [
        { buffer: 'a' },
        { buffer: 'b' },
        { buffer: 'c' },
        { i32: batch.m },
        { i32: batch.n },
        { i32: batch.k },
      ],
    },
  ],
  reference: ({ a, b, c }) => {
    const { count, m, n, k } = batch;
    for (let one = 0; one < count; one++) {
      const sums = products(
        [m, n, k],
        (row, at) => fromHalf(a[(one * k + at) * m + row]),
        (at, column) => fromHalf(b[(one * k + at) * n + column]),
      );
      c.set(sums.map(toHalf), one * m * n);
    }
  },
  outputs: { c: 'exact' },
});
