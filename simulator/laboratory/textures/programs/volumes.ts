import { kernelFixture, randomBytes, uniform } from '../../kernels/index.js';
import { linearFetch, plane, pointFetch, type PlainTexture } from './plainTexture.js';

const { fround } = Math;
const [width, height] = [21, 13];
const grid = [1, 2] as const;
const block = [32, 8] as const;
const size = [{ i32: width }, { i32: height }] as const;

const cells = [9, 7, 6] as const;
const steps = 20;

export const volumeRays = kernelFixture({
  ptx: new URL('./volumeRays.ptx', import.meta.url),
  buffers: () => ({ volume: randomBytes(9 * 7 * 6, 11), out: new Float32Array(width * height) }),
  objects: {
    volume: {
      buffer: 'volume',
      resource: { kind: 'array', type: 'u8', channels: 1, width: 9, height: 7, depth: 6 },
      sampler: {
        filter: 'linear',
        address: ['mirror', 'clamp', 'border'],
        normalizedCoordinates: true,
        normalizedFloat: true,
      },
    },
  },
  launches: [
    {
      kernel: 'volumeRays',
      grid,
      block,
      args: [{ object: 'volume' }, { buffer: 'out' }, ...size, { i32: steps }],
    },
  ],
  reference: ({ volume, out }) => {
    const texel = plane(volume, cells);
    const texture: PlainTexture = {
      type: 'u8',
      extents: cells,
      modes: ['mirror', 'clamp', 'border'],
      isNormalized: true,
      texel,
    };
    out.forEach((_, i) => {
      const u = fround(fround((i % width) + 0.25) / width);
      const v = fround(fround(Math.floor(i / width) + 0.75) / height);
      let [sum, transparency] = [0, 1];
      for (let k = 0; k < steps; k++) {
        const w = fround(fround(k + 0.5) / steps);
        const x = fround(u + fround(fround(0.1) * w));
        const y = fround(v - fround(fround(0.05) * w));
        const density = linearFetch(texture, [x, y, w]);
        if (density < fround(0.1)) continue;
        sum = fround(sum + fround(transparency * density));
        transparency = fround(transparency * fround(1 - fround(0.25 * density)));
        if (transparency < fround(0.05)) break;
      }
      out[i] = sum;
    });
  },
  outputs: { out: 'exact' },
});

const count = 5;
const rays = 500;

export const layersAndFaces = kernelFixture({
  ptx: new URL('./layersAndFaces.ptx', import.meta.url),
  buffers: () => ({
    layers: uniform(width * height * count, 12),
    sums: new Float32Array(width * height),
    faces: uniform(2 * 6 * 64, 13),
    directions: uniform(3 * rays, 14),
    seen: new Float32Array(2 * rays),
    colours: randomBytes(4 * width * height, 15),
    fours: new Uint32Array(4 * width * height),
  }),
  objects: {
    layers: {
      buffer: 'layers',
      resource: { kind: 'array', type: 'f32', channels: 1, width, height, layers: count },
      sampler: { filter: 'linear' },
    },
    cube: {
      buffer: 'faces',
      resource: { kind: 'array', type: 'f32', channels: 2, width: 8, height: 8, cube: true },
      sampler: { normalizedCoordinates: true },
    },
    colours: {
      buffer: 'colours',
      resource: { kind: 'array', type: 'u8', channels: 4, width, height },
      sampler: { address: 'border' },
    },
  },
  launches: [
    {
      kernel: 'readLayers',
      grid,
      block,
      args: [{ object: 'layers' }, { buffer: 'sums' }, ...size, { i32: count }],
    },
    {
      kernel: 'readCube',
      grid: 4,
      block: 128,
      args: [{ object: 'cube' }, { buffer: 'directions' }, { buffer: 'seen' }, { i32: rays }],
    },
    { kernel: 'gatherFour', grid, block, args: [{ object: 'colours' }, { buffer: 'fours' }, ...size] },
  ],
  reference: ({ layers, sums, faces, directions, seen, colours, fours }) => {
    sums.forEach((_, i) => {
      const [x, y] = [i % width, Math.floor(i / width)];
      let sum = 0;
      for (let layer = 0; layer <= count; layer++) {
        // A layer beyond the last one is the last one.
        const part = layers.subarray(Math.min(layer, count - 1) * width * height);
        const extents = [width, height];
        const texture = { extents, modes: ['clamp', 'clamp'] as const, texel: plane(part, extents) };
        sum = fround(sum + fround((layer + 1) * linearFetch(texture, [x + 0.25, y + 0.75])));
      }
      sums[i] = sum;
    });
    for (let ray = 0; ray < rays; ray++) {
      const [x = 0, y = 0, z = 0] = directions.subarray(3 * ray);
      const most = Math.max(Math.abs(x), Math.abs(y), Math.abs(z));
      // Faces and their axes as the programming guide's table has them.
      const [face, s, t] =
        most === Math.abs(x)
          ? x > 0
            ? [0, -z, -y]
            : [1, z, -y]
          : most === Math.abs(y)
            ? y > 0
              ? [2, x, z]
              : [3, x, -z]
            : z > 0
              ? [4, x, -y]
              : [5, -x, -y];
      const part = faces.subarray(2 * 64 * (face ?? 0));
      const place = [s, t].map((value) => fround(fround(fround(fround((value ?? 0) / most) + 1) / 2) * 8));
      for (const channel of [0, 1]) {
        const texel = plane(part, [8, 8], 2, channel);
        seen[2 * ray + channel] = pointFetch({ extents: [8, 8], modes: ['clamp', 'clamp'], texel }, place);
      }
    }
    const colour = (x: number, y: number, channel: number): number =>
      x < 0 || y < 0 || x >= width || y >= height ? 0 : (colours[4 * (y * width + x) + channel] ?? 0);
    for (let i = 0; i < width * height; i++) {
      const [x, y] = [i % width, Math.floor(i / width)];
      // The place (x + 0.75, y + 0.25) lies between texels x and x + 1, y - 1 and y; (x + 1, y + 1) between x and x + 1, y and y + 1.
      const corners = [
        [0, 1],
        [1, 1],
        [1, 0],
        [0, 0],
      ] as const;
      corners.forEach(([dx, dy], k) => {
        fours[4 * i + k] = colour(x + dx, y - 1 + dy, 0) * 256 + colour(x + dx, y + dy, 2);
      });
    }
  },
  outputs: { sums: 'exact', seen: 'exact', fours: 'exact' },
});
