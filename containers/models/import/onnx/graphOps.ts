import type { Activation } from '../denseLayer.js';
import type { SlidingWindow } from '../imageLayers.js';

interface OpBase {
  /** The node's name or place, for messages. */
  readonly where: string;
  /** Of one item, without the batch. */
  readonly shape: readonly number[];
}

/** Ops take on what follows them, as long as nothing else reads their result. */
export interface DenseOp extends OpBase {
  readonly kind: 'dense';
  readonly x: GraphValue;
  /** Inputs x outputs. */
  weights: Float64Array;
  bias: Float64Array | undefined;
  activation: Activation;
}

export interface ConvolutionOp extends OpBase {
  readonly kind: 'convolution';
  readonly x: GraphValue;
  /** Outputs x channels x height x width. */
  weights: Float64Array;
  bias: Float64Array | undefined;
  activation: Activation;
  readonly window: SlidingWindow;
}

export interface PoolOp extends OpBase {
  readonly kind: 'pool';
  readonly x: GraphValue;
  readonly window: SlidingWindow;
}

export interface AddOp extends OpBase {
  readonly kind: 'add';
  readonly x: GraphValue;
  /** Another value of the batch, or one item's values for all. */
  readonly other: GraphValue | Float64Array;
  activation: Activation;
}

/** x * factor + offset, each with a value for every value of an item. */
export interface AffineOp extends OpBase {
  readonly kind: 'affine';
  readonly x: GraphValue;
  readonly factor: Float64Array;
  offset: Float64Array;
  activation: Activation;
}

export interface ActivationOp extends OpBase {
  readonly kind: 'activation';
  readonly x: GraphValue;
  readonly activation: Activation;
}

export interface SoftmaxOp extends OpBase {
  readonly kind: 'softmax';
  readonly x: GraphValue;
  /** Values that add up to 1. */
  readonly width: number;
}

export type GraphOp = DenseOp | ConvolutionOp | PoolOp | AddOp | AffineOp | ActivationOp | SoftmaxOp;

/** A value of the batch: the input, or what an op leaves behind, in some shape. */
export interface GraphValue {
  /** Undefined for the input. */
  readonly op: GraphOp | undefined;
  readonly shape: readonly number[];
  /** Read once on the whole way from its op: the op may take on what reads it. */
  readonly readOnce: boolean;
}

export function elementsOfShape(shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, 1);
}
