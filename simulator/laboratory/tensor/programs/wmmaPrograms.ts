import {
  fromBfloat,
  fromHalf,
  integers,
  kernelFixture,
  toBfloat,
  toHalf,
  uniform,
  uniformDoubles,
} from '../../kernels/index.js';
import { products } from './references.js';

const [m, n, k] = [64, 64, 96];
const extents = [m, n, k] as const;

function file(name: string): URL {
  return new URL(`./${name}.ptx`, import.meta.url);
}

const halves = (count: number, seed: number): Uint16Array => Uint16Array.from(uniform(count, seed), toHalf);

export const wmmaHalf = kernelFixture({
  ptx: file('wmmaHalf'),
  buffers: () => ({ a: halves(m * k, 301), b: halves(k * n, 302), c: new Float32Array(m * n) }),
  launches: [
    {
      kernel: 'wmmaHalf',
      grid: [n / 16, m / 16],
      block: 32,
      args: [{ buffer: 'a' }, { buffer: 'b' }, { buffer: 'c' }, { i32: n }, { i32: k }],
    },
  ],
  reference: ({ a, b, c }) =>
    c.set(
      products(
        extents,
        (row, at) => fromHalf(a[row * k + at]),
        (at, column) => fromHalf(b[at * n + column]),
      ).map((sum) => (sum > 0 ? sum : 0.125 * sum)),
    ),
  outputs: { c: { absolute: 1e-4 } },
});

export const wmmaBfloat = kernelFixture({
  ptx: file('wmmaBfloat'),
  buffers: () => ({
    a: Uint16Array.from(uniform(m * k, 303), toBfloat),
    b: Uint16Array.from(uniform(k * n, 304), toBfloat),
    c: uniform(m * n, 305),
  }),
  launches: [
    {
      kernel: 'wmmaBfloat',
      grid: [n / 8, m / 32],
      block: 32,
      args: [{ buffer: 'a' }, { buffer: 'b' }, { buffer: 'c' }, { i32: n }, { i32: k }],
    },
  ],
  reference: ({ a, b, c }) =>
    c.set(
      products(
        extents,
        (row, at) => fromBfloat(a[row * k + at]),
        (at, column) => fromBfloat(b[column * k + at]),
      ).map((sum, at) => sum + (c[at] ?? 0)),
    ),
  outputs: { c: { absolute: 1e-4 } },
});

export const wmmaTf32 = kernelFixture({
  ptx: file('wmmaTf32'),
  buffers: () => ({ a: uniform(m * k, 306), b: uniform(k * n, 307), c: new Float32Array(m * n) }),
  launches: [
    {
      kernel: 'wmmaTf32',
      grid: [n / 16, m / 16],
      block: 32,
      args: [{ buffer: 'a' }, { buffer: 'b' }, { buffer: 'c' }, { i32: n }, { i32: k }],
    },
  ],
  reference: ({ a, b, c }) =>
    c.set(
      products(
        extents,
        (row, at) => a[row * k + at] ?? 0,
        (at, column) => b[at * n + column] ?? 0,
      ),
    ),
  outputs: { c: { absolute: 2e-2 } },
});

export const wmmaDouble = kernelFixture({
  ptx: file('wmmaDouble'),
  buffers: () => ({
    a: uniformDoubles(m * k, 308),
    b: uniformDoubles(k * n, 309),
    c: uniformDoubles(m * n, 310),
  }),
  launches: [
    {
      kernel: 'wmmaDouble',
      grid: [n / 8, m / 8],
      block: 32,
      args: [{ buffer: 'a' }, { buffer: 'b' }, { buffer: 'c' }, { i32: n }, { i32: k }],
    },
  ],
  reference: ({ a, b, c }) =>
    c.set(
      products(
        extents,
        (row, at) => a[row * k + at] ?? 0,
        (at, column) => b[column * k + at] ?? 0,
      ).map((sum, at) => sum + (c[at] ?? 0)),
    ),
  outputs: { c: { absolute: 1e-13 } },
});

export const wmmaBytes = kernelFixture({
  ptx: file('wmmaBytes'),
  buffers: () => ({
    a: Int8Array.from(integers(m * k, 311, -128, 128)),
    b: Int8Array.from(integers(k * n, 312, -128, 128)),
    c: new Int32Array(m * n),
  }),
  launches: [
    {
      kernel: 'wmmaBytes',
      grid: [n / 32, m / 8],
      block: 32,
      args: [{ buffer: 'a' }, { buffer: 'b' }, { buffer: 'c' }, { i32: n }, { i32: k }, { i32: 9 }],
    },
  ],
  reference: ({ a, b, c }) =>
    c.set(
      products(
        extents,
        (row, at) => a[row * k + at] ?? 0,
        (at, column) => b[at * n + column] ?? 0,
      ).map((sum) => Math.min(127, Math.max(-128, sum >> 9))),
    ),
  outputs: { c: 'exact' },
});

/** Whole numbers small enough that sums in f16 are exact. */
const wholes = (count: number, seed: number): Uint16Array =>
  Uint16Array.from(integers(count, seed, -3, 4), toHalf);

export const wmmaColumns = kernelFixture({
  ptx: file('wmmaColumns'),
  buffers: () => ({ a: wholes(m * k, 313), b: wholes(k * n, 314), c: new Uint16Array(m * n) }),
  launches: [
    {
      kernel: 'wmmaColumns',
      grid: [n / 16, m / 16],
      block: 32,
      args: [{ buffer: 'a' }, { buffer: 'b' }, { buffer: 'c' }, { i32: m }, { i32: k }],
    },
  ],
  reference: ({ a, b, c }) =>
    products(
      extents,
      (row, at) => fromHalf(a[at * m + row]),
      (at, column) => fromHalf(b[column * k + at]),
    ).forEach((sum, at) => {
      c[(at % n) * m + Math.floor(at / n)] = toHalf(sum);
    }),
  outputs: { c: 'exact' },
});
