import { kernelFixture, randomBytes } from '../../kernels/index.js';

const [width, height] = [19, 11];
const [columns, rows] = [32, 16];
const resource = { kind: 'array', type: 'u8', channels: 4, width, height } as const;
const size = [{ i32: width }, { i32: height }] as const;

export const surfaceEdges = kernelFixture({
  ptx: new URL('./surfaceEdges.ptx', import.meta.url),
  buffers: () => ({
    image: randomBytes(4 * width * height, 21),
    flipped: new Uint8Array(4 * width * height),
    edges: new Uint8Array(8 * columns * rows),
    written: randomBytes(4 * width * height, 22),
    bins: new Uint32Array(16),
    values: randomBytes(1000, 23),
    answers: new Uint32Array(7),
  }),
  objects: {
    image: { buffer: 'image', resource },
    flipped: { buffer: 'flipped', resource },
    written: { buffer: 'written', resource },
    bins: { buffer: 'bins', resource: { kind: 'array', type: 'u32', channels: 1, width: 16 } },
    texture: { buffer: 'image', resource, sampler: { normalizedFloat: true } },
  },
  launches: [
    {
      kernel: 'flipRows',
      grid: [1, 2],
      block: [32, 8],
      args: [{ object: 'image' }, { object: 'flipped' }, ...size],
    },
    {
      kernel: 'readEdges',
      grid: [1, 2],
      block: [columns, 8],
      args: [{ object: 'image' }, { buffer: 'edges' }, ...size],
    },
    { kernel: 'writeEdges', grid: [1, 2], block: [columns, 8], args: [{ object: 'written' }, ...size] },
    {
      kernel: 'countInSurface',
      grid: 4,
      block: 256,
      args: [{ object: 'bins' }, { buffer: 'values' }, { i32: 1000 }],
    },
    {
      kernel: 'askObjects',
      grid: 1,
      block: 1,
      args: [{ object: 'texture' }, { object: 'image' }, { buffer: 'answers' }],
    },
  ],
  reference: ({ image, flipped, edges, written, bins, values, answers }) => {
    const pixel = (x: number, y: number): number => 4 * (y * width + x);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const from = pixel(width - 1 - x, y);
        flipped.set(image.subarray(from, from + 3), pixel(x, y));
        flipped[pixel(x, y) + 3] = 255 - (image[from] ?? 0);
      }
    }
    for (let i = 0; i < columns * rows; i++) {
      const [x, y] = [(i % columns) - 3, Math.floor(i / columns) - 2];
      const isInside = x >= 0 && x < width && y >= 0 && y < height;
      const near = pixel(Math.min(Math.max(x, 0), width - 1), Math.min(Math.max(y, 0), height - 1));
      if (isInside) edges.set(image.subarray(near, near + 4), 8 * i);
      edges.set(image.subarray(near, near + 4), 8 * i + 4);
    }
    for (let i = 0; i < columns * rows; i++) {
      const [tx, ty] = [i % columns, Math.floor(i / columns)];
      const [x, y] = [tx - 2, ty - 1];
      if (x >= 0 && x < width && y >= 0 && y < height) written.set([tx, ty, tx + ty, 1], pixel(x, y));
    }
    for (const value of values) bins[value % 16] = (bins[value % 16] ?? 0) + 1;
    // OpenCL's CL_UNORM_INT8 and CL_RGBA, as PTX has them.
    answers.set([width, height, 0x10d2, 0x10b5, width, height, 1]);
  },
  outputs: { flipped: 'exact', edges: 'exact', written: 'exact', bins: 'exact', answers: 'exact' },
});
