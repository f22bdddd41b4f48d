import { integers, kernelFixture, randomBytes, uniform } from '../../kernels/index.js';
import { linearBlend, linearFetch, plane, pointFetch, type PlainTexture } from './plainTexture.js';

const { fround } = Math;
const [width, height] = [37, 23];
const grid = [2, 3] as const;
const block = [32, 8] as const;
const clamp = ['clamp', 'clamp', 'clamp'] as const;
const size = [{ i32: width }, { i32: height }] as const;

const [sine, cosine] = [fround(0.6), fround(0.8)];

export const imageRotation = kernelFixture({
  ptx: new URL('./imageRotation.ptx', import.meta.url),
  buffers: () => ({ image: uniform(width * height, 1), out: new Float32Array(width * height) }),
  objects: {
    image: {
      buffer: 'image',
      resource: { kind: 'array', type: 'f32', channels: 1, width, height },
      sampler: { address: 'wrap', filter: 'linear', normalizedCoordinates: true },
    },
  },
  launches: [
    {
      kernel: 'imageRotation',
      grid,
      block,
      args: [{ object: 'image' }, { buffer: 'out' }, ...size, { f32: sine }, { f32: cosine }],
    },
  ],
  reference: ({ image, out }) => {
    const texture: PlainTexture = {
      extents: [width, height],
      modes: ['wrap', 'wrap'],
      isNormalized: true,
      texel: plane(image, [width, height]),
    };
    out.forEach((_, i) => {
      const u = fround(fround((i % width) / width) - 0.5);
      const v = fround(fround(Math.floor(i / width) / height) - 0.5);
      const x = fround(fround(fround(u * cosine) - fround(v * sine)) + 0.5);
      const y = fround(fround(fround(v * cosine) + fround(u * sine)) + 0.5);
      out[i] = linearFetch(texture, [x, y]);
    });
  },
  outputs: { out: 'exact' },
});

const rate = fround(0.15);
/** Rows of pitched memory, in floats. */
const pitch = 128;

export const textureStencil = kernelFixture({
  ptx: new URL('./textureStencil.ptx', import.meta.url),
  buffers: () => ({
    a: uniform(pitch * height, 2, 0, 100).map((value, i) => (i % pitch < width ? value : NaN)),
    out: new Float32Array(width * height),
  }),
  objects: {
    from: {
      buffer: 'a',
      resource: { kind: 'pitched', type: 'f32', channels: 1, width, height, pitchBytes: 4 * pitch },
      sampler: {},
    },
  },
  launches: [
    {
      kernel: 'textureStencil',
      grid,
      block,
      args: [{ object: 'from' }, { buffer: 'out' }, ...size, { f32: rate }],
    },
  ],
  reference: ({ a, out }) => {
    const texture = { extents: [width, height], modes: clamp, texel: plane(a, [pitch, height]) };
    out.forEach((_, i) => {
      const [x, y] = [(i % width) + 0.5, Math.floor(i / width) + 0.5];
      const point = (dx: number, dy: number): number => pointFetch(texture, [x + dx, y + dy]);
      const sides = fround(point(-1, 0) + point(1, 0));
      const sum = fround(sides + fround(point(0, -1) + point(0, 1)));
      out[i] = fround(point(0, 0) + fround(rate * fround(sum - fround(4 * point(0, 0)))));
    });
  },
  outputs: { out: 'exact' },
});

const taps = Float32Array.from([1, 8, 28, 56, 70, 56, 28, 8, 1], (value) => value / 256);
const filterArgs = [{ buffer: 'weights' }, ...size] as const;

export const separableFilter = kernelFixture({
  ptx: new URL('./separableFilter.ptx', import.meta.url),
  buffers: () => ({
    image: randomBytes(4 * width * height, 3),
    rows: new Float32Array(4 * width * height),
    weights: taps.slice(),
    out: new Float32Array(4 * width * height),
  }),
  objects: {
    image: {
      buffer: 'image',
      resource: { kind: 'array', type: 'u8', channels: 4, width, height },
      sampler: { normalizedFloat: true },
    },
    toRows: { buffer: 'rows', resource: { kind: 'array', type: 'f32', channels: 4, width, height } },
    rows: {
      buffer: 'rows',
      resource: { kind: 'array', type: 'f32', channels: 4, width, height },
      sampler: { filter: 'linear' },
    },
  },
  launches: [
    { kernel: 'filterRows', grid, block, args: [{ object: 'image' }, { object: 'toRows' }, ...filterArgs] },
    { kernel: 'filterColumns', grid, block, args: [{ object: 'rows' }, { buffer: 'out' }, ...filterArgs] },
  ],
  reference: ({ image, rows, out }) => {
    const colours = Float32Array.from(image, (value) => value / 255);
    const pass = (from: Float32Array, to: Float32Array, dx: number, dy: number): void => {
      to.forEach((_, i) => {
        const [x, y] = [((i >> 2) % width) + 0.5, Math.floor((i >> 2) / width) + 0.5];
        const extents = [width, height];
        const texture = { extents, modes: clamp, texel: plane(from, extents, 4, i & 3) };
        let sum = 0;
        for (let k = -4; k <= 4; k++)
          sum = fround(sum + fround((taps[k + 4] ?? 0) * pointFetch(texture, [x + k * dx, y + k * dy])));
        to[i] = sum;
      });
    };
    pass(colours, rows, 1, 0);
    pass(rows, out, 0, 1);
  },
  outputs: { rows: 'exact', out: 'exact' },
});

export const mipmapDownsample = kernelFixture({
  ptx: new URL('./mipmapDownsample.ptx', import.meta.url),
  buffers: () => ({ image: uniform(256 + 64 + 16 + 4 + 1, 4), out: new Float32Array(3 * 200) }),
  objects: {
    image: {
      buffer: 'image',
      resource: { kind: 'array', type: 'f32', channels: 1, width: 16, height: 16, levels: 5 },
      sampler: { filter: 'linear', mipmapFilter: 'linear', normalizedCoordinates: true },
    },
  },
  launches: [
    {
      kernel: 'levelsOfDetail',
      grid: 2,
      block: 128,
      args: [{ object: 'image' }, { buffer: 'out' }, { i32: 200 }],
    },
  ],
  reference: ({ image, out }) => {
    const starts = [0, 256, 320, 336, 340];
    const sample = (u: number, v: number, lod: number): number => {
      const lower = Math.min(Math.floor(lod), 4);
      const ofLevel = (level: number, weight: number): Parameters<typeof linearBlend>[0][number] => {
        const extent = 16 >> level;
        const texel = plane(image.subarray(starts[level]), [extent, extent]);
        const texture: PlainTexture = { extents: [extent, extent], modes: clamp, isNormalized: true, texel };
        return { texture, coordinates: [u, v], weight };
      };
      const weight = Math.floor((lod - lower) * 256);
      if (weight === 0) return linearBlend([ofLevel(lower, 256)]);
      return linearBlend([ofLevel(lower, 256 - weight), ofLevel(lower + 1, weight)]);
    };
    for (let i = 0; i < 200; i++) {
      const [u, v] = [((i % 16) + 0.5) / 16, ((Math.floor(i / 16) % 16) + 0.5) / 16];
      out[3 * i] = sample(u, v, Math.min(i * 0.03125, 4));
      // Gradients of two texels across and one down: the longer one counts.
      out[3 * i + 1] = sample(u, v, 1);
      out[3 * i + 2] = sample(u, v, 0);
    }
  },
  outputs: { out: 'exact' },
});

export const tableLookup = kernelFixture({
  ptx: new URL('./tableLookup.ptx', import.meta.url),
  buffers: () => ({
    vector: uniform(50, 5),
    rows: Int32Array.from({ length: 41 }, (_, i) => 3 * i),
    columns: integers(120, 6, -2, 53),
    values: uniform(120, 7),
    out: new Float32Array(40),
    table: Float32Array.from({ length: 33 }, (_, i) => Math.sin(i / 5)),
    x: uniform(300, 8, -2, 36),
    y: new Float32Array(300),
  }),
  objects: {
    vector: {
      buffer: 'vector',
      resource: { kind: 'linear', type: 'f32', channels: 1, width: 50 },
      sampler: {},
    },
    table: {
      buffer: 'table',
      resource: { kind: 'array', type: 'f32', channels: 1, width: 33 },
      sampler: { filter: 'linear', address: 'border' },
    },
  },
  launches: [
    {
      kernel: 'sparseByTexture',
      grid: 1,
      block: 64,
      args: [
        { object: 'vector' },
        { buffer: 'rows' },
        { buffer: 'columns' },
        { buffer: 'values' },
        { buffer: 'out' },
        { i32: 40 },
      ],
    },
    {
      kernel: 'tabulated',
      grid: 3,
      block: 128,
      args: [{ object: 'table' }, { buffer: 'x' }, { buffer: 'y' }, { i32: 300 }],
    },
  ],
  reference: ({ vector, columns, values, out, table, x, y }) => {
    out.forEach((_, row) => {
      let sum = 0;
      for (let k = 3 * row; k < 3 * row + 3; k++)
        sum = fround(sum + fround((values[k] ?? 0) * (vector[columns[k] ?? 0] ?? 0)));
      out[row] = sum;
    });
    const texture = { extents: [33], modes: ['border'] as const, texel: plane(table, [33]) };
    x.forEach((at, i) => (y[i] = linearFetch(texture, [at])));
  },
  outputs: { out: 'exact', y: 'exact' },
});
