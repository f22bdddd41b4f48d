import { countOf, pointerTo, type ModelDraft, type Tensor, type WeightValues } from './modelDraft.js';

/** Values of the kernels' `activation` argument. */
export const ACTIVATIONS = { identity: 0, relu: 1, logistic: 2, tanh: 3 } as const;
export type Activation = keyof typeof ACTIVATIONS;

/** PTX thread-instructions of an activation, at most. */
export const ACTIVATION_INSTRUCTIONS: Readonly<Record<Activation, number>> = {
  identity: 6,
  relu: 8,
  logistic: 80,
  tanh: 85,
};

const THREADS_A_BLOCK = 256;
const GROUPS_A_BLOCK = 32;
const MAX_SPLITS = 28;
/** Fewer would cost more in a thread's start and end than they save in waiting. */
const MIN_INPUTS_A_SPLIT = 32;

/** Outputs rounded up to whole groups of four, which a thread computes together. */
export function paddedOutputs(outputs: number): number {
  return Math.ceil(outputs / 4) * 4;
}

/**
 * Weights as the kernels read them: each input's row padded with zeros to a whole number of groups.
 * @param weights inputs x outputs, row by row.
 */
export function paddedRows(
  weights: ArrayLike<number>,
  inputs: number,
  outputs: number,
  element: 'f32' | 'f64',
): WeightValues {
  const stride = paddedOutputs(outputs);
  const padded = element === 'f32' ? new Float32Array(inputs * stride) : new Float64Array(inputs * stride);
  for (let k = 0; k < inputs; k++) {
    for (let n = 0; n < outputs; n++) padded[k * stride + n] = weights[k * outputs + n];
  }
  return padded;
}

export function realValues(values: ArrayLike<number>, element: 'f32' | 'f64'): WeightValues {
  return element === 'f32' ? Float32Array.from(values) : Float64Array.from(values);
}

/** The element type of a tensor of real numbers. */
export function realElement({ name, element }: Tensor): 'f32' | 'f64' {
  if (element === 'f32' || element === 'f64') return element;
  throw new Error(`'${name}' holds ${element}, a layer takes f32 or f64`);
}

export interface DenseLayer {
  /** Of an item, each by itself; 1 unless given. */
  readonly rows?: number;
  /** x.width / rows x biases.length, row by row. */
  readonly weights: ArrayLike<number>;
  readonly biases: ArrayLike<number>;
  readonly activation?: Activation;
}

/** activation(x * weights + biases), in the element type of x. */
export function addDense(draft: ModelDraft, x: Tensor, layer: DenseLayer): Tensor {
  const { weights, biases, activation = 'identity', rows = 1 } = layer;
  const element = realElement(x);
  const outputs = biases.length;
  const inputs = x.width / rows;
  const name = draft.layerName('dense');
  const y = draft.tensor(name, element, rows * outputs);
  draft.launch({
    module: 'dense',
    kernel: `dense_${element}`,
    ...tiling(inputs, outputs, element, rows),
    arguments: [
      pointerTo(x),
      draft.weight(`${name}Weights`, paddedRows(weights, inputs, outputs, element)),
      draft.weight(`${name}Biases`, realValues(biases, element)),
      pointerTo(y),
      { i32: inputs },
      { i32: outputs },
      { i32: paddedOutputs(outputs) },
      { i32: ACTIVATIONS[activation] },
    ],
    instructions:
      rows * (sliceInstructions(inputs, outputs, 13) + outputs * ACTIVATION_INSTRUCTIONS[activation]),
  });
  return y;
}

/**
 * exp(-gamma * squared distance) of x to each of `count` vectors.
 * @param vectors x.width x count, row by row: each column is a vector.
 */
export function addRadialKernel(
  draft: ModelDraft,
  x: Tensor,
  vectors: ArrayLike<number>,
  count: number,
  gamma: number,
): Tensor {
  const name = draft.layerName('radial');
  const y = draft.tensor(name, 'f64', count);
  draft.launch({
    module: 'dense',
    kernel: 'rbf_f64',
    ...tiling(x.width, count, 'f64'),
    arguments: [
      pointerTo(x),
      draft.weight(`${name}Vectors`, paddedRows(vectors, x.width, count, 'f64')),
      pointerTo(y),
      { i32: x.width },
      { i32: count },
      { i32: paddedOutputs(count) },
      { f64: gamma },
    ],
    instructions: sliceInstructions(x.width, count, 17) + count * 70,
  });
  return y;
}

/** An activation by itself. */
export function addActivation(draft: ModelDraft, x: Tensor, activation: Activation): Tensor {
  const element = realElement(x);
  const y = draft.tensor(draft.layerName(activation), element, x.width);
  draft.launchElements({
    module: 'elementwise',
    kernel: `activate_${element}`,
    width: x.width,
    instructionsEach: 20 + ACTIVATION_INSTRUCTIONS[activation],
    arguments: [pointerTo(x), pointerTo(y), countOf(x.width), { i32: ACTIVATIONS[activation] }],
  });
  return y;
}

function tiling(
  inputs: number,
  outputs: number,
  element: 'f32' | 'f64',
  rows = 1,
): {
  grid: [string, number, number];
  block: [number, number, number];
  dynamicSharedBytes: number;
} {
  const { groups, splits, tiles } = tileOf(inputs, outputs);
  return {
    grid: [rows === 1 ? 'batch' : `batch * ${rows}`, tiles, 1],
    block: [groups, splits, 1],
    dynamicSharedBytes: groups * splits * 4 * (element === 'f32' ? 4 : 8),
  };
}

function tileOf(inputs: number, outputs: number): { groups: number; splits: number; tiles: number } {
  const all = paddedOutputs(outputs) / 4;
  const tiles = Math.ceil(all / GROUPS_A_BLOCK);
  const groups = Math.ceil(all / tiles);
  const splits = Math.min(
    MAX_SPLITS,
    Math.floor(THREADS_A_BLOCK / groups),
    Math.max(1, Math.floor(inputs / MIN_INPUTS_A_SPLIT)),
  );
  return { groups, splits, tiles };
}

function sliceInstructions(inputs: number, outputs: number, instructionsAnInput: number): number {
  const { groups, splits, tiles } = tileOf(inputs, outputs);
  const threads = groups * splits * tiles;
  return threads * (80 + instructionsAnInput * Math.ceil(inputs / splits)) + outputs * (6 * splits + 30);
}
