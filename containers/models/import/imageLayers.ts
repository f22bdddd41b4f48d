import { ACTIVATIONS, ACTIVATION_INSTRUCTIONS, paddedOutputs, type Activation } from './denseLayer.js';
import { pointerTo, type ModelDraft, type Tensor } from './modelDraft.js';

/** A window that slides over an image, as the kernels take it. */
export interface SlidingWindow {
  /** Height, width. */
  readonly kernel: readonly [number, number];
  readonly strides: readonly [number, number];
  readonly padTop: number;
  readonly padLeft: number;
  readonly out: readonly [number, number];
}

export interface ConvolutionLayer {
  /** Channels, height, width of x. */
  readonly image: readonly number[];
  readonly outputs: number;
  /** Outputs x channels x height x width. */
  readonly weights: ArrayLike<number>;
  readonly biases: ArrayLike<number>;
  readonly activation: Activation;
  readonly window: SlidingWindow;
}

const PIXELS_A_BLOCK = 128;

/** A convolution in two dimensions, pixels outside the image counting as 0. */
export function addConvolution(draft: ModelDraft, x: Tensor, layer: ConvolutionLayer): Tensor {
  const { image, outputs, weights, biases, activation, window } = layer;
  const [channels, height, width] = image;
  const [kernelHeight, kernelWidth] = window.kernel;
  const taps = channels * kernelHeight * kernelWidth;
  const stride = paddedOutputs(outputs);
  const byTap = new Float32Array(taps * stride);
  for (let output = 0; output < outputs; output++) {
    for (let tap = 0; tap < taps; tap++) byTap[tap * stride + output] = weights[output * taps + tap];
  }
  const pixels = window.out[0] * window.out[1];
  const block = blockOf(pixels);
  const name = draft.layerName('convolution');
  const y = draft.tensor(name, 'f32', outputs * pixels);
  draft.launch({
    module: 'images',
    kernel: 'conv2d_f32',
    grid: [Math.ceil(pixels / block), stride / 4, 'batch'],
    block: [block, 1, 1],
    arguments: [
      pointerTo(x),
      draft.weight(`${name}Weights`, byTap),
      draft.weight(`${name}Biases`, Float32Array.from(biases)),
      pointerTo(y),
      ...[channels, height, width, kernelHeight, kernelWidth, ...window.strides].map((i32) => ({ i32 })),
      ...[window.padTop, window.padLeft, outputs, stride, ...window.out].map((i32) => ({ i32 })),
      { i32: ACTIVATIONS[activation] },
    ],
    instructions:
      (stride / 4) * pixels * (120 + channels * kernelHeight * (16 + 13 * kernelWidth)) +
      outputs * pixels * ACTIVATION_INSTRUCTIONS[activation],
  });
  return y;
}

/** The largest value of each window. */
export function addMaxPool(
  draft: ModelDraft,
  x: Tensor,
  [channels, height, width]: readonly number[],
  window: SlidingWindow,
): Tensor {
  const pixels = window.out[0] * window.out[1];
  const count = channels * pixels;
  const block = blockOf(count);
  const y = draft.tensor(draft.layerName('pool'), 'f32', count);
  draft.launch({
    module: 'images',
    kernel: 'max_pool2d_f32',
    grid: [Math.ceil(count / block), 'batch', 1],
    block: [block, 1, 1],
    arguments: [
      pointerTo(x),
      pointerTo(y),
      ...[channels, height, width, ...window.kernel, ...window.strides].map((i32) => ({ i32 })),
      ...[window.padTop, window.padLeft, ...window.out].map((i32) => ({ i32 })),
    ],
    instructions: count * (110 + window.kernel[0] * (14 + 8 * window.kernel[1])),
  });
  return y;
}

/** Whole warps, no more than the work. */
function blockOf(count: number): number {
  return Math.min(PIXELS_A_BLOCK, Math.ceil(count / 32) * 32);
}
