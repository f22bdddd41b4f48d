import type { Activation } from '../denseLayer.js';
import { elementsOfShape, type GraphOp, type GraphValue } from './graphOps.js';
import type { NodeInput, NodeReader } from './nodeReader.js';
import type { OnnxTensor } from './onnxModel.js';
import { windowOf } from './windows.js';

/** What a node becomes: a new op, a value that is there already (in another shape, or of an op that took the node on), or a constant. */
export type Translation =
  { readonly op: GraphOp } | { readonly alias: GraphValue } | { readonly constant: OnnxTensor };

type Translate = (reader: NodeReader) => Translation;

export const TRANSLATIONS: Readonly<Record<string, Translate>> = {
  Gemm: gemm,
  MatMul: matrixProduct,
  Add: addition,
  Relu: (reader) => activation(reader, 'relu'),
  Sigmoid: (reader) => activation(reader, 'logistic'),
  Tanh: (reader) => activation(reader, 'tanh'),
  Conv: convolution,
  MaxPool: maxPool,
  Softmax: softmax,
  Flatten: flatten,
  Reshape: reshape,
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

function addition(reader: NodeReader): Translation {
  const [a, b] = [reader.input(0), reader.input(1)];
  if ('value' in a && 'value' in b) {
    const [left, right] = [a.value.shape, b.value.shape];
    if (left.length !== right.length || left.some((extent, axis) => extent !== right[axis])) {
      reader.refuse(
        `the shapes [${left.join(', ')}] and [${right.join(', ')}] differ, only equal ones can be added`,
      );
    }
    return {
      op: {
        kind: 'add',
        where: reader.where,
        shape: left,
        x: a.value,
        other: b.value,
        activation: 'identity',
      },
    };
  }
  const { value, constant } = oneOfEach(reader, a, b);
  const { op, shape } = value;
  const other = broadcast(reader, constant, shape);
  if (value.readOnce && (op?.kind === 'dense' || op?.kind === 'convolution')) {
    const bias = op.kind === 'dense' ? other : perChannel(other, op.shape);
    if (bias !== undefined && op.bias === undefined && op.activation === 'identity') {
      op.bias = bias;
      return { alias: value };
    }
  }
  return { op: { kind: 'add', where: reader.where, shape, x: value, other, activation: 'identity' } };
}

function oneOfEach(
  reader: NodeReader,
  a: NodeInput,
  b: NodeInput,
): { value: GraphValue; constant: OnnxTensor } {
  if ('value' in a && 'constant' in b) return { value: a.value, constant: b.constant };
  if ('constant' in a && 'value' in b) return { value: b.value, constant: a.constant };
  return reader.refuse('both inputs are constants: let the exporter fold them (do_constant_folding=True)');
}

/** One value a channel, when all of a channel's pixels have the same. */
function perChannel(values: Float64Array, [channels, ...image]: readonly number[]): Float64Array | undefined {
  const pixels = elementsOfShape(image);
  if (!values.every((value, index) => value === values[index - (index % pixels)])) return undefined;
  return Float64Array.from({ length: channels }, (_, channel) => values[channel * pixels]);
}

function activation(reader: NodeReader, kind: Activation): Translation {
  const x = reader.value(0);
  const { op } = x;
  if (
    x.readOnce &&
    (op?.kind === 'dense' || op?.kind === 'convolution' || op?.kind === 'add') &&
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

function flatten(reader: NodeReader): Translation {
  const x = reader.value(0);
  const given = reader.integer('axis', 1);
  const axis = given < 0 ? given + x.shape.length + 1 : given;
  if (axis !== 1) reader.refuse(`axis ${given} would mix the queries of a batch, only 1 is supported`);
  return { alias: { ...x, shape: [elementsOfShape(x.shape)] } };
}

function reshape(reader: NodeReader): Translation {
  const source = reader.input(0);
  const wanted = Array.from(reader.constant(1).values);
  if (reader.integer('allowzero', 0) !== 0 && wanted.includes(0))
    reader.refuse('allowzero=1 is not supported');
  if ('constant' in source) {
    const { constant } = source;
    return { constant: { ...constant, dims: reshaped(reader, constant.dims, wanted) } };
  }
  const { value } = source;
  const [batch, ...rest] = wanted;
  if (batch === undefined || (batch !== 0 && batch !== -1 && batch !== 1)) {
    reader.refuse(`the first extent must keep the batch (0, -1 or 1), it is ${batch ?? 'missing'}`);
  }
  // The batch stays apart, so that its extent needs no number.
  if (batch === -1 && rest.includes(-1)) reader.invalid('two extents are -1');
  const shifted = rest.map((extent, axis) => (extent === 0 ? value.shape[axis] : extent));
  return { alias: { ...value, shape: reshaped(reader, value.shape, shifted) } };
}

/** A shape with its -1 and 0 filled in. */
function reshaped(reader: NodeReader, from: readonly number[], wanted: readonly number[]): number[] {
  const elements = elementsOfShape(from);
  const filled = wanted.map((extent, axis) => (extent === 0 ? from[axis] : extent));
  const known = elementsOfShape(filled.filter((extent) => extent !== -1));
  const shape = filled.map((extent) => (extent === -1 ? elements / known : extent));
  if (
    elementsOfShape(shape) !== elements ||
    !shape.every((extent) => Number.isInteger(extent) && extent > 0)
  ) {
    reader.refuse(`[${from.join(', ')}] cannot become [${wanted.join(', ')}] with the batch kept apart`);
  }
  return shape;
}

function passed(reader: NodeReader): Translation {
  const input = reader.input(0);
  if (reader.node.opType === 'Dropout') {
    const mode = reader.optional(2);
    if (mode !== undefined && (!('constant' in mode) || mode.constant.values[0] !== 0)) {
      reader.refuse('it is in training mode: export the model for inference');
    }
  }
  return 'value' in input ? { alias: input.value } : { constant: input.constant };
}

function constantNode(reader: NodeReader): Translation {
  const { attributes } = reader.node;
  const tensor = attributes.get('value')?.tensor;
  if (tensor !== undefined) return { constant: tensor };
  const floats = attributes.get('value_floats') ?? attributes.get('value_ints');
  const scalar = attributes.get('value_float') ?? attributes.get('value_int');
  if (floats !== undefined) {
    const values = Float64Array.from(floats.floats.length > 0 ? floats.floats : floats.integers);
    return { constant: { name: '', dims: [values.length], dataType: 1, values } };
  }
  if (scalar === undefined) return reader.refuse('only value, value_float(s) and value_int(s) are supported');
  const value = scalar.name === 'value_float' ? scalar.float : scalar.integer;
  return { constant: { name: '', dims: [], dataType: 1, values: Float64Array.of(value) } };
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

/** A constant as one item's values, by ONNX's rules of broadcasting. Its own batch extent must be 1 or absent. */
function broadcast(reader: NodeReader, { dims, values }: OnnxTensor, shape: readonly number[]): Float64Array {
  const misfit = (): never =>
    reader.refuse(
      `a constant of the shape [${dims.join(', ')}] cannot be added to a query's [${shape.join(', ')}]`,
    );
  const rank = shape.length + 1;
  if (dims.length > rank) misfit();
  const padded = [...new Array<number>(rank - dims.length).fill(1), ...dims];
  if (padded[0] !== 1) misfit();
  const own = padded.slice(1);
  if (own.some((extent, axis) => extent !== 1 && extent !== shape[axis])) misfit();
  return Float64Array.from({ length: elementsOfShape(shape) }, (_, index) => {
    let rest = index;
    let place = 0;
    let step = 1;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const at = rest % shape[axis];
      rest = Math.floor(rest / shape[axis]);
      if (own[axis] !== 1) place += at * step;
      step *= own[axis];
    }
    return values[place];
  });
}
