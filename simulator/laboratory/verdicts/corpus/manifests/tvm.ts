import { reads, writes, type KernelManifest } from '../manifest.js';

const family = 'tvm';

/** Kernels of fixed extents: nothing is drawn but the block of those with a guard, and how their buffers lie. */
function fixed(
  entry: string,
  [grid, block]: readonly [readonly number[], readonly number[]],
  out: number,
  ...inputs: readonly number[]
): KernelManifest {
  const parameters = [writes('f32', out), ...inputs.map((amount) => reads('f32', amount))];
  return { entry, family, sizes: {}, grid, block, parameters };
}

/** A thread an output. */
function flat(entry: string, out: number, ...inputs: readonly number[]): KernelManifest {
  const threads = out > 200 ? 128 : 64;
  return fixed(entry, [[Math.ceil(out / threads)], [threads]], out, ...inputs);
}

function conv(entry: string, shape: readonly number[]): KernelManifest {
  const [c = 0, h = 0, w = 0, k = 0, r = 0, s = 1, p = 0] = shape;
  const [oh, ow] = [Math.floor((h + 2 * p - r) / s) + 1, Math.floor((w + 2 * p - r) / s) + 1];
  return flat(entry, k * oh * ow, c * h * w, k * c * r * r);
}

function convBlocks(entry: string, shape: readonly number[]): KernelManifest {
  const [c = 0, h = 0, w = 0, k = 0, r = 0] = shape;
  const [oh, ow] = [h - r + 1, w - r + 1];
  return fixed(entry, [[1, oh, k], [ow > 16 ? 32 : 16]], k * oh * ow, c * h * w, k * c * r * r, k);
}

function depthwise(entry: string, shape: readonly number[]): KernelManifest {
  const [c = 0, h = 0, w = 0, r = 0, s = 1, p = 0] = shape;
  const [oh, ow] = [Math.floor((h + 2 * p - r) / s) + 1, Math.floor((w + 2 * p - r) / s) + 1];
  return flat(entry, c * oh * ow, c * h * w, c * r * r);
}

function pool(entry: string, shape: readonly number[]): KernelManifest {
  const [c = 0, h = 0, w = 0, r = 0, s = 1] = shape;
  return flat(entry, c * (Math.floor((h - r) / s) + 1) * (Math.floor((w - r) / s) + 1), c * h * w);
}

const pointwise = (entry: string, c: number, pixels: number, k: number): KernelManifest =>
  fixed(entry, [[pixels / 8], [8, k]], k * pixels, c * pixels, k * c);

const im2col = (entry: string, c: number, h: number, w: number, r: number): KernelManifest =>
  flat(entry, c * r * r * (h - r + 1) * (w - r + 1), c * h * w);

const pad = (entry: string, c: number, h: number, w: number, p: number): KernelManifest =>
  flat(entry, c * (h + 2 * p) * (w + 2 * p), c * h * w);

const dense = (entry: string, from: number, to: number): KernelManifest =>
  fixed(entry, [[to], [32]], to, from, from * to, to);

const fused = (entry: string, c: number, pixels: number): KernelManifest =>
  flat(entry, c * pixels, c * pixels, c, c);

const tiledTranspose = (entry: string, rows: number, cols: number): KernelManifest =>
  fixed(
    entry,
    [
      [cols / 8, rows / 8],
      [8, 8],
    ],
    rows * cols,
    rows * cols,
  );

export const TVM: readonly KernelManifest[] = [
  conv('conv3x3Small', [2, 8, 8, 4, 3, 1, 1]),
  conv('conv3x3Odd', [3, 7, 9, 5, 3, 1, 1]),
  conv('conv3x3Stride', [3, 9, 9, 4, 3, 2, 1]),
  conv('conv5x5', [1, 12, 12, 3, 5, 1, 2]),
  conv('conv1x1', [4, 6, 6, 8, 1, 1, 0]),
  conv('conv7x7Stride', [3, 14, 14, 2, 7, 2, 3]),
  convBlocks('convBlocks3', [3, 10, 10, 4, 3]),
  convBlocks('convBlocks5', [1, 12, 12, 6, 5]),
  convBlocks('convBlocks1', [4, 8, 8, 8, 1]),
  convBlocks('convBlocksWide', [2, 5, 20, 3, 3]),
  depthwise('depthwise3', [4, 8, 8, 3, 1, 1]),
  depthwise('depthwise3Stride', [6, 9, 9, 3, 2, 1]),
  depthwise('depthwise5', [3, 10, 10, 5, 1, 2]),
  pointwise('pointwiseSmall', 4, 64, 8),
  pointwise('pointwiseWide', 16, 48, 4),
  pointwise('pointwiseDeep', 24, 32, 8),
  pool('maxPool2', [4, 8, 8, 2, 2]),
  pool('maxPool3', [3, 9, 9, 3, 2]),
  pool('averagePool2', [5, 6, 6, 2, 2]),
  pool('averagePool3', [2, 11, 11, 3, 1]),
  im2col('im2col3', 2, 8, 8, 3),
  im2col('im2col2', 3, 6, 7, 2),
  im2col('im2col5', 1, 10, 10, 5),
  pad('pad1', 3, 8, 8, 1),
  pad('pad2', 2, 5, 9, 2),
  pad('pad3', 1, 12, 12, 3),
  flat('concatChannels', 8 * 64, 3 * 64, 5 * 64),
  flat('concatOdd', 9 * 49, 2 * 49, 7 * 49),
  flat('concatWide', 20 * 16, 16 * 16, 4 * 16),
  flat('transposeFlat', 240, 240),
  flat('transposeOdd', 217, 217),
  tiledTranspose('transposeTiled', 16, 24),
  tiledTranspose('transposeSquare', 32, 32),
  fused('fusedRelu', 4, 64),
  fused('fusedRelu6', 6, 49),
  fused('fusedSigmoid', 8, 36),
  fused('fusedHardSwish', 3, 100),
  fixed('addRelu256', [[4], [64]], 256, 256, 256),
  fixed('addRelu512', [[4], [128]], 512, 512, 512),
  dense('dense64x10', 64, 10),
  dense('dense100x16', 100, 16),
  dense('dense512x8', 512, 8),
  flat('upsample2', 3 * 144, 3 * 36),
  flat('upsampleOdd', 2 * 140, 2 * 35),
  flat('globalPool49', 16, 16 * 49),
  flat('globalPool64', 8, 8 * 64),
  fixed('softmax10', [[6], [32]], 60, 60),
  fixed('softmax100', [[4], [32]], 400, 400),
  flat('sliceColumns', 3 * 8 * 8, 3 * 8 * 16),
  flat('sliceEveryOther', 2 * 9 * 8, 2 * 9 * 18),
];
