import type { Activation } from '../denseLayer.js';
import { addition, difference, normalization, product, quotient } from './arithmetic.js';
import { broadcast } from './broadcasting.js';
import { constantNode, passed } from './constantNodes.js';
import {
  cast,
  concat,
  flatten,
  gather,
  reshape,
  shapeOf,
  slice,
  squeeze,
  transpose,
  unsqueeze,
} from './extents.js';
import { elementsOfShape, type GraphValue } from './graphOps.js';
import type { NodeReader } from './nodeReader.js';
import type { Translate, Translation } from './translation.js';
import { windowOf } from './windows.js';

export const TRANSLATIONS: Readonly<Record<string, Translate>> = {
  Gemm: gemm,
  MatMul: matrixProduct,
  Add: addition,
  Sub: difference,
  Mul: product,
  Div: quotient,
  BatchNormalization: normalization,
  Relu: (reader) => activation(reader, 'relu'),
  Sigmoid: (reader) => activation(reader, 'logistic'),
  Tanh: (reader) => activation(reader, 'tanh'),
  Conv: convolution,
  MaxPool: maxPool,
  Softmax: softmax,
  Flatten: flatten,
  Reshape: reshape,
  Transpose: transpose,
  Unsqueeze: unsqueeze,
  Squeeze: squeeze,
  Shape: shapeOf,
  Gather: gather,
  Slice: slice,
  Concat: concat,
  Cast: cast,
  Identity: passed,
  Dropout: passed,
  Constant: constantNode,
};

function gemm(reader: NodeReader): Translation {
  const x = reader.value(0);
  const b = reader.constant(1);
  if (reader.integer('transA', 0) !== 0) reader.refuse('transA=1 would mix the queries of a batch');
  const [inputs] = vectorShape(reader, x);
  if (b.dims.length !== 2) reader.invalid(`B has the shape [${b.dims.join(', ')}], expected two extents`);
  const isTransposed = reader.integer('transB', 0) !== 0;
  const [rows, outputs] = isTransposed ? [b.dims[1], b.dims[0]] : b.dims;
  if (rows !== inputs) reader.invalid(`B takes ${rows} values, A has ${inputs}`);
  const alpha = reader.float('alpha', 1);
  const weights = new Float64Array(inputs * outputs);
  for (let k = 0; k < inputs; k++) {
    for (let n = 0; n < outputs; n++) {
      const value = b.values[isTransposed ? n * inputs + k : k * outputs + n];
      weights[k * outputs + n] = alpha * value;
    }
  }
  let bias: Float64Array | undefined;
  if (reader.optional(2) !== undefined) {
    const c = reader.constant(2);
    const beta = reader.float('beta', 1);
    bias = broadcast(reader, c, [outputs]).map((value) => beta * value);
  }
  return {
    op: { kind: 'dense', where: reader.where, shape: [outputs], x, weights, bias, activation: 'identity' },
  };
}

function matrixProduct(reader: NodeReader): Translation {
  const x = reader.value(0);
  const b = reader.constant(1);
  const [inputs] = vectorShape(reader, x);
  if (b.dims.length !== 2)
    reader.refuse(`the constant has the shape [${b.dims.join(', ')}], only two extents are supported`);
  if (b.dims[0] !== inputs)
    reader.invalid(`the constant takes ${b.dims[0]} values, the other side has ${inputs}`);
  return {
    op: {
      kind: 'dense',
      where: reader.where,
      shape: [b.dims[1]],
      x,
      weights: b.values,
      bias: undefined,
      activation: 'identity',
    },
  };
}

function activation(reader: NodeReader, kind: Activation): Translation {
  const x = reader.value(0);
  const { op } = x;
  if (
    x.readOnce &&
    (op?.kind === 'dense' || op?.kind === 'convolution' || op?.kind === 'add' || op?.kind === 'affine') &&
    op.activation === 'identity'
  ) {
    op.activation = kind;
    return { alias: x };
  }
  return { op: { kind: 'activation', where: reader.where, shape: x.shape, x, activation: kind } };
}

function convolution(reader: NodeReader): Translation {
  const x = reader.value(0);
  const w = reader.constant(1);
  const [channels, height, width] = imageShape(reader, x);
  if (reader.integer('group', 1) !== 1) reader.refuse('group other than 1 is not supported');
  if (w.dims.length !== 4) reader.invalid(`W has the shape [${w.dims.join(', ')}], expected four extents`);
  const [outputs, inputs, kernelHeight, kernelWidth] = w.dims;
  if (inputs !== channels) reader.invalid(`W takes ${inputs} channels, X has ${channels}`);
  const window = windowOf(reader, [height, width], [kernelHeight, kernelWidth]);
  const bias = reader.optional(2) === undefined ? undefined : reader.constant(2).values;
  if (bias !== undefined && bias.length !== outputs)
    reader.invalid(`B has ${bias.length} values, W makes ${outputs} channels`);
  return {
    op: {
      kind: 'convolution',
      where: reader.where,
      shape: [outputs, ...window.out],
      x,
      weights: w.values,
      bias,
      activation: 'identity',
      window,
    },
  };
}

function maxPool(reader: NodeReader): Translation {
  const x = reader.value(0);
  const [channels, height, width] = imageShape(reader, x);
  if (reader.node.attributes.get('kernel_shape') === undefined) reader.invalid('kernel_shape is missing');
  const kernel = reader.integers('kernel_shape', [1, 1]);
  if (reader.integer('storage_order', 0) !== 0) reader.refuse('storage_order other than 0 is not supported');
  if ((reader.node.outputs[1] ?? '') !== '') reader.refuse('the output Indices is not supported');
  const window = windowOf(reader, [height, width], [kernel[0], kernel[1]]);
  return { op: { kind: 'pool', where: reader.where, shape: [channels, ...window.out], x, window } };
}

function softmax(reader: NodeReader): Translation {
  const x = reader.value(0);
  const rank = x.shape.length + 1;
  // Up to operator set 12 everything behind the axis is one row, later the axis alone is.
  const isFlattening = reader.opset < 13;
  const given = reader.integer('axis', isFlattening ? 1 : -1);
  const axis = given < 0 ? given + rank : given;
  if (axis < 1 || axis >= rank) reader.refuse(`axis ${given} of ${rank} would mix the queries of a batch`);
  const behind = elementsOfShape(x.shape.slice(axis));
  const width = isFlattening ? elementsOfShape(x.shape.slice(axis - 1)) : x.shape[axis - 1];
  if (!isFlattening && behind !== 1)
    reader.refuse(`axis ${given} is not the last one: transpose the values before`);
  return { op: { kind: 'softmax', where: reader.where, shape: x.shape, x, width } };
}

function vectorShape(reader: NodeReader, { shape }: GraphValue): readonly number[] {
  return shape.length === 1
    ? shape
    : reader.refuse(
        `a query's values have the shape [${shape.join(', ')}], only one extent is supported: flatten them first`,
      );
}

function imageShape(reader: NodeReader, { shape }: GraphValue): readonly number[] {
  return shape.length === 3
    ? shape
    : reader.refuse(
        `a query's values have the shape [${shape.join(', ')}], only [channels, height, width] is supported`,
      );
}
