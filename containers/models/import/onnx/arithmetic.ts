import { elementsOfShape, type GraphValue } from './graphOps.js';
import { BATCH, type ExtentList, type NodeReader } from './nodeReader.js';
import { broadcast, perChannel } from './broadcasting.js';
import { translationOfList } from './extents.js';
import type { OnnxTensor } from './onnxModel.js';
import type { Translation } from './translation.js';
import { FLOAT } from './tensorValues.js';

export function addition(reader: NodeReader): Translation {
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
  const found = valueAndConstant(reader);
  if (found === undefined) return computed(reader, (left, right) => left + right);
  const { value, constant } = found;
  const { op, shape } = value;
  const other = broadcast(reader, constant, shape);
  if (value.readOnce && (op?.kind === 'dense' || op?.kind === 'convolution')) {
    const bias = op.kind === 'dense' ? other : perChannel(other, op.shape);
    if (bias !== undefined && op.bias === undefined && op.activation === 'identity') {
      op.bias = bias;
      return { alias: value };
    }
  }
  if (
    value.readOnce &&
    op?.kind === 'affine' &&
    op.activation === 'identity' &&
    op.offset.every((one) => one === 0)
  ) {
    op.offset = other;
    return { alias: value };
  }
  return { op: { kind: 'add', where: reader.where, shape, x: value, other, activation: 'identity' } };
}

export function difference(reader: NodeReader): Translation {
  const found = valueAndConstant(reader);
  if (found === undefined) return computed(reader, (left, right) => left - right);
  const { value, constant, isValueFirst } = found;
  const row = broadcast(reader, constant, value.shape);
  const sign = isValueFirst ? 1 : -1;
  return scaled(
    reader,
    value,
    filled(row.length, sign),
    row.map((one) => -sign * one + 0),
  );
}

export function product(reader: NodeReader): Translation {
  const found = valueAndConstant(reader);
  if (found === undefined) return computed(reader, (left, right) => left * right);
  const factor = broadcast(reader, found.constant, found.value.shape);
  return scaled(reader, found.value, factor, filled(factor.length, 0));
}

export function quotient(reader: NodeReader): Translation {
  const found = valueAndConstant(reader);
  // Whole numbers are divided as C does it.
  if (found === undefined) {
    return computed(reader, (left, right, isWhole) => (isWhole ? Math.trunc(left / right) : left / right));
  }
  if (!found.isValueFirst)
    reader.refuse('it divides by values of the query, only by a constant is supported');
  const divisor = broadcast(reader, found.constant, found.value.shape);
  if (divisor.includes(0)) reader.invalid('it divides by 0');
  return scaled(
    reader,
    found.value,
    divisor.map((one) => 1 / one),
    filled(divisor.length, 0),
  );
}

/** (x - mean) / sqrt(variance + epsilon) * scale + bias, each by channel, which is the extent behind the batch. */
export function normalization(reader: NodeReader): Translation {
  const x = reader.value(0);
  if (reader.integer('training_mode', 0) !== 0 || (reader.opset < 7 && reader.integer('is_test', 0) === 0)) {
    reader.refuse('it is in training mode: export the model for inference (model.eval())');
  }
  if (reader.integer('spatial', 1) === 0) reader.refuse('spatial=0 is not supported');
  const [channels] = x.shape;
  const [scale, bias, mean, variance] = ['scale', 'B', 'mean', 'var'].map((name, at) => {
    const { dims, values } = reader.constant(at + 1);
    if (values.length === channels) return values;
    return reader.invalid(
      `${name} has the shape [${dims.join(', ')}], expected the ${channels} channels of X`,
    );
  });
  const epsilon = reader.float('epsilon', 1e-5);
  const pixels = elementsOfShape(x.shape.slice(1));
  const each = scale.map((one, channel) => {
    const deviation = Math.sqrt(variance[channel] + epsilon);
    if (!(deviation > 0)) reader.invalid(`var[${channel}] is ${variance[channel]}: no variance is below 0`);
    return one / deviation;
  });
  const spread = (of: (channel: number) => number): Float64Array =>
    Float64Array.from({ length: channels * pixels }, (_, index) => of(Math.floor(index / pixels)));
  return scaled(
    reader,
    x,
    spread((channel) => each[channel]),
    spread((channel) => bias[channel] - mean[channel] * each[channel]),
  );
}

/** x * factor + offset, taken on by the layer that makes x if it can. */
function scaled(reader: NodeReader, x: GraphValue, factor: Float64Array, offset: Float64Array): Translation {
  const { op } = x;
  if (x.readOnce && (op?.kind === 'dense' || op?.kind === 'convolution') && op.activation === 'identity') {
    const [factors, offsets] =
      op.kind === 'dense' ? [factor, offset] : [factor, offset].map((each) => perChannel(each, op.shape));
    if (factors !== undefined && offsets !== undefined) {
      const outputs = factors.length;
      const inputs = op.weights.length / outputs;
      const outputOf = (index: number): number =>
        op.kind === 'dense' ? index % outputs : Math.floor(index / inputs);
      op.weights = op.weights.map((weight, index) => weight * factors[outputOf(index)]);
      const { bias } = op;
      op.bias = offsets.map((one, output) => one + (bias?.[output] ?? 0) * factors[output]);
      return { alias: x };
    }
  }
  return {
    op: { kind: 'affine', where: reader.where, shape: x.shape, x, factor, offset, activation: 'identity' },
  };
}

/** undefined: neither input depends on the query. */
function valueAndConstant(
  reader: NodeReader,
): { value: GraphValue; constant: OnnxTensor; isValueFirst: boolean } | undefined {
  const [a, b] = [reader.input(0), reader.input(1)];
  if ('value' in a) {
    return 'value' in b
      ? reader.refuse('both inputs depend on the query, only one may')
      : { value: a.value, constant: reader.constant(1), isValueFirst: true };
  }
  return 'value' in b ? { value: b.value, constant: reader.constant(0), isValueFirst: false } : undefined;
}

type Compute = (left: number, right: number, isWhole: boolean) => number;

/** Of two constants: of one shape, or one of them a single number. */
function computed(reader: NodeReader, compute: Compute): Translation {
  const [a, b] = [reader.input(0), reader.input(1)];
  if (!('constant' in a) || !('constant' in b))
    return computedList(reader, reader.list(0), reader.list(1), compute);
  const { constant: left } = a;
  const { constant: right } = b;
  const isSame = left.dims.join() === right.dims.join();
  if (!isSame && left.values.length !== 1 && right.values.length !== 1) {
    reader.refuse(
      `constants of the shapes [${left.dims.join(', ')}] and [${right.dims.join(', ')}] differ: let the exporter fold them (do_constant_folding=True)`,
    );
  }
  const { dims } =
    left.values.length >= right.values.length && left.dims.length >= right.dims.length ? left : right;
  const isWhole =
    left.dataType !== FLOAT && left.values.every(Number.isInteger) && right.values.every(Number.isInteger);
  const at = ({ values }: OnnxTensor, index: number): number => values[values.length === 1 ? 0 : index];
  const length = Math.max(left.values.length, right.values.length);
  const values = Float64Array.from({ length }, (_, index) =>
    checked(reader, compute(at(left, index), at(right, index), isWhole)),
  );
  return { constant: { name: '', dims, dataType: left.dataType, values } };
}

function computedList(
  reader: NodeReader,
  left: ExtentList,
  right: ExtentList,
  compute: Compute,
): Translation {
  const length = Math.max(left.extents.length, right.extents.length);
  const at = ({ extents }: ExtentList, index: number): number | typeof BATCH => {
    if (extents.length !== 1 && extents.length !== length) reader.invalid('its inputs differ in length');
    return extents[extents.length === 1 ? 0 : index];
  };
  const extents = Array.from({ length }, (_, index) => {
    const [one, other] = [at(left, index), at(right, index)];
    if (one !== BATCH && other !== BATCH) return checked(reader, compute(one, other, true));
    const keeps =
      (other !== BATCH && compute(7, other, true) === 7 && compute(11, other, true) === 11) ||
      (one !== BATCH && compute(one, 7, true) === 7 && compute(one, 11, true) === 11);
    return keeps
      ? BATCH
      : reader.refuse("it computes with the batch's extent: that would mix the queries of a batch");
  });
  return translationOfList({ extents, isScalar: left.isScalar && right.isScalar });
}

function checked(reader: NodeReader, value: number): number {
  return Number.isFinite(value) ? value : reader.invalid(`a constant becomes ${value}`);
}

function filled(length: number, value: number): Float64Array {
  return new Float64Array(length).fill(value);
}
