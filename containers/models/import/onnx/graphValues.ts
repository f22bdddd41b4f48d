import type { ModelDraft, Tensor } from '../modelDraft.js';
import type { Activation } from '../denseLayer.js';
import type { RealElement, Source } from '../layers/sources.js';
import type { WindowShape } from '../layers/windowLayers.js';
import type { OnnxTensor } from './onnxModel.js';

/** So many times the batch's extent, which is a number only when queries run. */
export interface BatchExtent {
  readonly times: number;
}

/** The batch's extent itself. */
export const BATCH: BatchExtent = { times: 1 };

export type Extent = number | BatchExtent;

/** Whole numbers of which some are made of the batch's extent: what Shape gives, and what is made of it. */
export interface ExtentList {
  readonly extents: readonly Extent[];
  /** One number, and no list of one. */
  readonly isScalar: boolean;
}

/** Where the queries of a batch lie in a value: along an axis, of which `before` elements stand outside the batch. */
export interface BatchPlace {
  readonly axis: number;
  readonly before: number;
}

/** A value of the graph that depends on the query: an input, or what an op leaves behind, in some shape. */
export interface GraphValue {
  readonly source: GraphInput | GraphPart | GraphOp;
  /** Which of its results. */
  readonly output: number;
  /** Of one query: the batch counts as 1. */
  readonly shape: readonly number[];
  /** Undefined: it has no axis for the batch, and every query has all of it. */
  readonly batch: BatchPlace | undefined;
  /** A DataType of onnx.proto. */
  readonly dataType: number;
  /** Its numbers are places in this list. */
  readonly texts?: readonly string[];
  /** It is strings of the query: the column of each. No kernel computes with these. */
  readonly columns?: readonly number[];
  /** Read once on the whole way from its op: the op may take on what reads it. */
  readonly readOnce: boolean;
}

export interface ValueOperand {
  readonly value: GraphValue;
}
export interface ConstantOperand {
  readonly constant: OnnxTensor;
}
export type Operand = ValueOperand | ConstantOperand;
export type NodeInput = Operand | { readonly list: ExtentList };

/** An input of the graph: its place among them. */
export interface GraphInput {
  readonly kind: 'input';
  readonly place: number;
}

/** A part of a query that has strings, as the host encodes it: its place among the parts. */
export interface GraphPart {
  readonly kind: 'part';
  readonly place: number;
}

/** What an op finds when it is put into a draft. */
export interface Emission {
  readonly draft: ModelDraft;
  readonly source: (operand: Operand, element?: RealElement) => Source;
  readonly tensor: (value: GraphValue) => Tensor;
}

/** An op that only its own translation knows. */
export interface GeneralOp {
  readonly kind: 'general';
  readonly operands: readonly Operand[];
  /** @returns a tensor for each result. */
  emit(emission: Emission): readonly Tensor[];
}

/* Layers that take on what follows them, as long as nothing else reads their result. */

/** Rows of x times constant weights. */
export interface DenseOp {
  readonly kind: 'dense';
  readonly x: GraphValue;
  readonly inputs: number;
  readonly outputs: number;
  /** Inputs x outputs. */
  weights: Float64Array;
  bias: Float64Array | undefined;
  activation: Activation;
}

export interface ConvolutionOp {
  readonly kind: 'convolution';
  readonly x: GraphValue;
  /** Outputs x channels of a group x window. */
  weights: Float64Array;
  bias: Float64Array | undefined;
  activation: Activation;
  readonly shape: WindowShape;
}

/** x + other in single precision: another value of the same shape, or one item's values for all. */
export interface SumOp {
  readonly kind: 'sum';
  readonly x: GraphValue;
  readonly other: GraphValue | Float64Array;
  activation: Activation;
}

/** x * factor + offset in single precision, each with a value for every value of an item. */
export interface AffineOp {
  readonly kind: 'affine';
  readonly x: GraphValue;
  readonly factor: Float64Array;
  offset: Float64Array;
  activation: Activation;
}

export type FusableOp = DenseOp | ConvolutionOp | SumOp | AffineOp;

export type GraphOp = GeneralOp | FusableOp;

export function elementsOfShape(shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, 1);
}

export function shapeOfOperand(operand: Operand): readonly number[] {
  return 'value' in operand ? operand.value.shape : operand.constant.dims;
}

export function typeOfOperand(operand: Operand): number {
  return 'value' in operand ? operand.value.dataType : operand.constant.dataType;
}

export function batchOfOperand(operand: Operand): BatchPlace | undefined {
  return 'value' in operand ? operand.value.batch : undefined;
}
