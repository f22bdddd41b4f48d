import { ACTIVATIONS, ACTIVATION_INSTRUCTIONS, type Activation } from '../denseLayer.js';
import { pointerTo, type ModelDraft, type Tensor } from '../modelDraft.js';
import { elementCount, tableOf, type Source } from './sources.js';
import { rowsOf } from './stridedLayers.js';

type Three = readonly [number, number, number];

/** A window over an image of three dimensions; with fewer the first extents are 1. */
export interface WindowShape {
  readonly channels: number;
  readonly outputs: number;
  readonly groups: number;
  readonly image: Three;
  readonly window: Three;
  readonly strides: Three;
  readonly dilations: Three;
  /** Before the first element. */
  readonly pads: Three;
  /** Behind the last one, as far as a mean counts them. */
  readonly reach: Three;
  readonly out: Three;
}

/** The table that windows.cu reads. */
function shapeTable(shape: WindowShape): Int32Array {
  const { channels, outputs, groups, image, window, strides, dilations, pads, out } = shape;
  return Int32Array.from([
    channels,
    outputs,
    groups,
    ...image,
    ...window,
    ...strides,
    ...dilations,
    ...pads,
    ...out,
  ]);
}

export function addWindowedConvolution(
  draft: ModelDraft,
  x: Source,
  weights: Source,
  bias: Source,
  shape: WindowShape,
  activation: Activation,
): Tensor {
  const y = draft.tensor(draft.layerName('convolution'), x.element, shape.outputs * volume(shape.out));
  draft.launchElements({
    module: 'windows',
    kernel: `convolve_${x.element}`,
    width: y.width,
    instructionsEach:
      250 + (shape.channels / shape.groups) * volume(shape.window) * 22 + ACTIVATION_INSTRUCTIONS[activation],
    arguments: [
      rowsOf(draft, x, shape.channels * volume(shape.image)),
      weights.pointer,
      bias.pointer,
      pointerTo(y),
      tableOf(draft, 'window', shapeTable(shape)),
      elementCount(y.width),
      { i32: weights.stride },
      { i32: bias.stride },
      { i32: ACTIVATIONS[activation] },
    ],
  });
  return y;
}

export function addTransposedConvolution(
  draft: ModelDraft,
  x: Source,
  weights: Source,
  bias: Source,
  shape: WindowShape,
): Tensor {
  const y = draft.tensor(draft.layerName('deconvolution'), 'f32', shape.outputs * volume(shape.out));
  draft.launchElements({
    module: 'windows',
    kernel: 'convolve_back_f32',
    width: y.width,
    instructionsEach: 250 + (shape.channels / shape.groups) * volume(shape.window) * 50,
    arguments: [
      rowsOf(draft, x, shape.channels * volume(shape.image)),
      weights.pointer,
      bias.pointer,
      pointerTo(y),
      tableOf(draft, 'window', shapeTable(shape)),
      elementCount(y.width),
      { i32: weights.stride },
      { i32: bias.stride },
    ],
  });
  return y;
}

export const POOLS = { largest: 0, meanInside: 1, meanPadded: 2, powers: 3 } as const;

export function addWindowedPool(
  draft: ModelDraft,
  x: Source,
  shape: WindowShape,
  kind: keyof typeof POOLS,
  power = 1,
): Tensor {
  const y = draft.tensor(draft.layerName('pool'), 'f32', shape.channels * volume(shape.out));
  draft.launchElements({
    module: 'windows',
    kernel: 'pool_f32',
    width: y.width,
    instructionsEach: 250 + volume(shape.window) * (kind === 'powers' ? 400 : 40),
    arguments: [
      rowsOf(draft, x, shape.channels * volume(shape.image)),
      pointerTo(y),
      tableOf(draft, 'window', shapeTable(shape)),
      elementCount(y.width),
      { i32: POOLS[kind] },
      ...shape.reach.map((i32) => ({ i32 })),
      { f64: power },
    ],
  });
  return y;
}

/** Where each window's largest value lies, in places of the item's image. */
export function addPoolPlaces(draft: ModelDraft, x: Source, shape: WindowShape, byColumns: boolean): Tensor {
  const y = draft.tensor(draft.layerName('poolPlaces'), 'f64', shape.channels * volume(shape.out));
  draft.launchElements({
    module: 'windows',
    kernel: 'pool_places_f64',
    width: y.width,
    instructionsEach: 250 + volume(shape.window) * 45,
    arguments: [
      rowsOf(draft, x, shape.channels * volume(shape.image)),
      pointerTo(y),
      tableOf(draft, 'window', shapeTable(shape)),
      elementCount(y.width),
      { i32: byColumns ? 1 : 0 },
    ],
  });
  return y;
}

/** How one axis is resized: for each new element its taps, of which a place below 0 stands for `otherwise`. */
export interface Resampling {
  readonly taps: number;
  readonly places: Int32Array;
  readonly weights: Float32Array;
}

export function addResampledAxis(
  draft: ModelDraft,
  x: Source,
  axis: { readonly outer: number; readonly extent: number; readonly out: number; readonly inner: number },
  { taps, places, weights }: Resampling,
  otherwise: number,
): Tensor {
  const { outer, extent, out, inner } = axis;
  const y = draft.tensor(draft.layerName('resampled'), 'f32', outer * out * inner);
  draft.launchElements({
    module: 'windows',
    kernel: 'resample_f32',
    width: y.width,
    instructionsEach: 120 + 20 * taps,
    arguments: [
      rowsOf(draft, x, outer * extent * inner),
      pointerTo(y),
      tableOf(draft, 'taps', places),
      draft.weight(draft.layerName('tapWeights'), weights),
      elementCount(y.width),
      ...[extent, out, inner, taps].map((i32) => ({ i32 })),
      { f32: otherwise },
    ],
  });
  return y;
}

function volume(extents: Three): number {
  return extents[0] * extents[1] * extents[2];
}
