import { fromBfloat, fromHalf, kernelFixture, toBfloat, toHalf, uniform } from '../../kernels/index.js';
import { products } from './references.js';

function file(name: string): URL {
  return new URL(`./${name}.ptx`, import.meta.url);
}

const halves = (count: number, seed: number, size: number): Uint16Array =>
  Uint16Array.from(uniform(count, seed, -size, size), toHalf);

const [heads, length, width] = [2, 128, 64];
const scale = Math.LOG2E / 8;

export const flashForward = kernelFixture({
  ptx: file('flashForward'),
  buffers: () => ({
    q: halves(heads * length * width, 351, 2),
    k: halves(heads * length * width, 352, 2),
    v: halves(heads * length * width, 353, 1),
    out: new Float32Array(heads * length * width),
    logSums: new Float32Array(heads * length),
  }),
  launches: [
    {
      kernel: 'flashForward',
      grid: [length / 64, heads],
      block: 128,
      args: [
        { buffer: 'q' },
        { buffer: 'k' },
        { buffer: 'v' },
        { buffer: 'out' },
        { buffer: 'logSums' },
        { i32: length },
        { f32: Math.fround(scale) },
      ],
    },
  ],
  reference: ({ q, k, v, out, logSums }) => {
    for (let line = 0; line < heads * length; line++) {
      const head = Math.floor(line / length) * length;
      const scores = Array.from({ length }, (_, key) => {
        let dot = 0;
        for (let d = 0; d < width; d++)
          dot += fromHalf(q[line * width + d]) * fromHalf(k[(head + key) * width + d]);
        return dot * scale;
      });
      const most = Math.max(...scores);
      const powers = scores.map((score) => 2 ** (score - most));
      const total = powers.reduce((sum, power) => sum + power, 0);
      logSums[line] = most + Math.log2(total);
      for (let d = 0; d < width; d++) {
        const sum = powers.reduce(
          (all, power, key) => all + power * fromHalf(v[(head + key) * width + d]),
          0,
        );
        out[line * width + d] = sum / total;
      }
    }
  },
  // Probabilities are rounded to f16 before they meet the values.
  outputs: { out: { absolute: 2e-3 }, logSums: { absolute: 1e-3 } },
});

const image = { height: 14, width: 13, channels: 32, filters: 32 } as const;

export const implicitGemm = kernelFixture({
  ptx: file('implicitGemm'),
  buffers: () => ({
    image: halves(image.height * image.width * image.channels, 354, 1),
    weights: halves(9 * image.channels * image.filters, 355, 0.25),
    bias: uniform(image.filters, 356),
    out: new Uint16Array(image.height * image.width * image.filters),
  }),
  launches: [
    {
      kernel: 'implicitGemm',
      grid: [Math.ceil((image.height * image.width) / 64), image.filters / 32],
      block: 128,
      args: [
        { buffer: 'image' },
        { buffer: 'weights' },
        { buffer: 'bias' },
        { buffer: 'out' },
        { i32: image.height },
        { i32: image.width },
        { i32: image.channels },
        { i32: image.filters },
      ],
    },
  ],
  reference: ({ image: pixels, weights, bias, out }) => {
    const { height, width: across, channels, filters } = image;
    for (let pixel = 0; pixel < height * across; pixel++) {
      for (let filter = 0; filter < filters; filter++) {
        let sum = bias[filter] ?? 0;
        for (let tap = 0; tap < 9; tap++) {
          const y = Math.floor(pixel / across) + Math.floor(tap / 3) - 1;
          const x = (pixel % across) + (tap % 3) - 1;
          if (y < 0 || y >= height || x < 0 || x >= across) continue;
          for (let channel = 0; channel < channels; channel++)
            sum +=
              fromHalf(pixels[(y * across + x) * channels + channel]) *
              fromHalf(weights[(tap * channels + channel) * filters + filter]);
        }
        out[pixel * filters + filter] = toHalf(Math.max(0, sum));
      }
    }
  },
  // Bits of a half that is no negative number: a place off, and near nought what an error of an f32 sum is there.
  outputs: { out: { absolute: 20, relative: 0.02 } },
});

const layer = { rows: 128, columns: 64, inner: 96, epsilon: Math.fround(1e-5) } as const;

function gelu(x: number): number {
  return 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
}

export const gemmLayerNorm = kernelFixture({
  ptx: file('gemmLayerNorm'),
  buffers: () => ({
    a: Uint16Array.from(uniform(layer.rows * layer.inner, 357), toBfloat),
    b: Uint16Array.from(uniform(layer.inner * layer.columns, 358, -0.5, 0.5), toBfloat),
    bias: uniform(layer.columns, 359),
    gamma: uniform(layer.columns, 360, 0.5, 1),
    // So large that no result is negative: bits of what comes out can be compared as numbers.
    beta: uniform(layer.columns, 370, 5, 6),
    out: new Uint16Array(layer.rows * layer.columns),
    means: new Float32Array(layer.rows),
    inverses: new Float32Array(layer.rows),
  }),
  launches: [
    {
      kernel: 'gemmLayerNorm',
      grid: layer.rows / 64,
      block: 128,
      args: [
        { buffer: 'a' },
        { buffer: 'b' },
        { buffer: 'bias' },
        { buffer: 'gamma' },
        { buffer: 'beta' },
        { buffer: 'out' },
        { buffer: 'means' },
        { buffer: 'inverses' },
        { i32: layer.inner },
        { f32: layer.epsilon },
      ],
    },
  ],
  reference: ({ a, b, bias, gamma, beta, out, means, inverses }) => {
    const { rows, columns, inner, epsilon } = layer;
    const active = products(
      [rows, columns, inner],
      (row, at) => fromBfloat(a[row * inner + at]),
      (at, column) => fromBfloat(b[at * columns + column]),
    ).map((sum, at) => gelu(sum + (bias[at % columns] ?? 0)));
    for (let row = 0; row < rows; row++) {
      const own = active.slice(row * columns, (row + 1) * columns);
      const mean = own.reduce((sum, value) => sum + value, 0) / columns;
      const variance = own.reduce((sum, value) => sum + (value - mean) ** 2, 0) / columns;
      const inverse = 1 / Math.sqrt(variance + epsilon);
      means[row] = mean;
      inverses[row] = inverse;
      own.forEach((value, column) => {
        const normal = (value - mean) * inverse * (gamma[column] ?? 0) + (beta[column] ?? 0);
        out[row * columns + column] = toBfloat(normal);
      });
    }
  },
  // One place of a bf16, where an error of f32 meets the middle between two.
  outputs: { out: { absolute: 1 }, means: { absolute: 1e-5 }, inverses: { relative: 1e-4 } },
});
