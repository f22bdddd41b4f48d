import {
  addLocalResponse,
  addSoftmaxAlong,
  addStandardizedRows,
  type Along,
  type SoftmaxKind,
} from '../../layers/reductionLayers.js';
import { constantSource } from '../../layers/sources.js';
import { addSoftmax } from '../../rowLayers.js';
import {
  batchOfOperand,
  elementsOfShape,
  shapeOfOperand,
  typeOfOperand,
  type NodeInput,
  type Operand,
} from '../graphValues.js';
import type { NodeReader } from '../nodeReader.js';
import { FLOAT, FLOAT16, elementOfType } from '../tensorValues.js';
import type { OperatorTable, Translate, Translation } from '../translation.js';
import { castTo, mathOf, operandOf, pairOf, scaled } from './elementwise.js';
import { expandedTo } from './movement.js';
import { alongAxis, reduced } from './reductions.js';

/** (x - mean) / sqrt(variance + epsilon) * scale + bias, each by channel, which is the extent behind the batch. */
const batchNormalization: Translate = (reader) => {
  const x = reader.numeric(0);
  const isTraining =
    reader.integer('training_mode', 0) !== 0 || (reader.opset < 7 && reader.integer('is_test', 0) === 0);
  if (isTraining) reader.refuse('it is in training mode: export the model for inference (model.eval())');
  if (reader.integer('spatial', 1) === 0) reader.refuse('spatial=0 is not supported');
  const shape = shapeOfOperand(x);
  if (shape.length < 2) reader.invalid(`the shape [${shape.join(', ')}] has no channels`);
  const parts = ['scale', 'B', 'mean', 'var'].map((name, at) => {
    const operand = reader.numeric(at + 1);
    if (elementsOfShape(shapeOfOperand(operand)) === shape[1]) return operand;
    return reader.invalid(
      `${name} has the shape [${shapeOfOperand(operand).join(', ')}], expected the ${shape[1]} channels of X`,
    );
  });
  const epsilon = reader.float('epsilon', 1e-5);
  const constants = parts.flatMap((part) => ('constant' in part ? [part.constant.values] : []));
  const type = typeOfOperand(x);
  if (constants.length < 4 || !('value' in x) || (type !== FLOAT && type !== FLOAT16)) {
    return normalizedBy(reader, x, parts, epsilon);
  }
  const [scale, bias, mean, variance] = constants;
  const pixels = elementsOfShape(shape.slice(2));
  const each = scale.map((one, channel) => {
    const deviation = Math.sqrt(variance[channel] + epsilon);
    if (!(deviation > 0)) reader.invalid(`var[${channel}] is ${variance[channel]}: no variance is below 0`);
    return one / deviation;
  });
  const [images, channels] = shape;
  const spread = (of: (channel: number) => number): Float64Array =>
    Float64Array.from({ length: images * channels * pixels }, (_, index) =>
      of(Math.floor(index / pixels) % channels),
    );
  return scaled(
    reader,
    x.value,
    spread((channel) => each[channel]),
    spread((channel) => bias[channel] - mean[channel] * each[channel]),
  );
};

/** The same of parts that depend on the query. */
function normalizedBy(
  reader: NodeReader,
  x: Operand,
  parts: readonly Operand[],
  epsilon: number,
): Translation {
  const { length } = shapeOfOperand(x);
  const columns = parts.map((part) => {
    const shape = [elementsOfShape(shapeOfOperand(part)), ...new Array<number>(length - 2).fill(1)];
    if (batchOfOperand(part) !== undefined) reader.refuseMixing('a scale with a batch');
    const same = castTo(reader, part, typeOfOperand(x));
    return 'constant' in same
      ? { constant: { ...same.constant, dims: shape } }
      : { value: { ...same.value, shape } };
  });
  const [scale, bias, mean, variance] = columns;
  const [pair, math] = calculator(reader);
  const deviation = math({ op: 'squareRoot' }, math({ op: 'affine', a: 1, b: epsilon }, variance));
  return pair('add', pair('multiply', pair('divide', pair('subtract', x, mean), deviation), scale), bias);
}

/** Functions of operands that give operands. */
export function calculator(
  reader: NodeReader,
): [
  (op: Parameters<typeof pairOf>[1], a: Operand, b: Operand) => Operand,
  (what: Parameters<typeof mathOf>[2], x: Operand) => Operand,
] {
  return [
    (op, a, b) => operandOf(reader, pairOf(reader, op, a, b)),
    (what, x) => operandOf(reader, mathOf(reader, x, what)),
  ];
}

const layerNormalization: Translate = (reader) => {
  const given = reader.numeric(0);
  const dataType = typeOfOperand(given);
  const x = given;
  const shape = shapeOfOperand(x);
  const first = reader.axis(reader.integer('axis', -1), shape.length);
  const batch = batchOfOperand(x);
  if (batch !== undefined && batch.axis >= first) reader.refuseMixing(`axis ${batch.axis}`);
  const inner = shape.slice(first);
  const [scale, bias] = [1, 2].map((place) => {
    const operand = reader.optionalOperand(place);
    return operand === undefined ? undefined : operandOf(reader, expandedTo(reader, operand, inner));
  });
  const width = elementsOfShape(inner);
  const rows = elementsOfShape(shape) / width;
  const means = { shape: shape.map((extent, axis) => (axis < first ? extent : 1)), batch, dataType };
  return standardized(reader, x, scale, bias, { width, rows, inner: 1, period: width }, [means, means]);
};

function standardized(
  reader: NodeReader,
  x: Operand,
  scale: Operand | undefined,
  bias: Operand | undefined,
  rows: { readonly width: number; readonly rows: number; readonly inner: number; readonly period: number },
  more: readonly {
    shape: readonly number[];
    batch: ReturnType<typeof batchOfOperand>;
    dataType: number;
  }[] = [],
  epsilon = reader.float('epsilon', 1e-5),
): readonly NodeInput[] {
  for (const part of [scale, bias]) {
    if (part === undefined) continue;
    if (batchOfOperand(part) !== undefined) reader.refuseMixing('a scale with a batch');
    const elements = elementsOfShape(shapeOfOperand(part));
    if (elements !== rows.period)
      reader.invalid(`scale and bias have ${elements} values, expected ${rows.period}`);
  }
  const dataType = typeOfOperand(x);
  const element = elementOfType(dataType);
  const operands = [x, ...(scale === undefined ? [] : [scale]), ...(bias === undefined ? [] : [bias])];
  return reader.results(
    [{ shape: shapeOfOperand(x), batch: batchOfOperand(x), dataType }, ...more],
    operands,
    ({ draft, source }) => {
      const filled = (part: Operand | undefined, value: number) =>
        part === undefined
          ? constantSource(draft, 'scale', new Float64Array(rows.period).fill(value), element)
          : source(part, element);
      return addStandardizedRows(draft, source(x, element), filled(scale, 1), filled(bias, 0), {
        ...rows,
        epsilon,
      });
    },
  );
}

const instanceNormalization: Translate = (reader) => {
  const x = reader.numeric(0);
  const [images, channels, ...image] = shapeOfOperand(x);
  const width = elementsOfShape(image);
  refuseLater(reader, x);
  return standardized(reader, x, reader.numeric(1), reader.numeric(2), {
    width,
    rows: images * channels,
    inner: width,
    period: channels,
  })[0];
};

const groupNormalization: Translate = (reader) =>
  groupNormalized(
    reader,
    reader.numeric(0),
    reader.numeric(1),
    reader.numeric(2),
    reader.integer('num_groups', 1),
  );

/** Channels behind the batch, in groups; scale and bias of each channel, or up to operator set 20 of each group. */
export function groupNormalized(
  reader: NodeReader,
  x: Operand,
  scale: Operand,
  bias: Operand,
  groups: number,
): NodeInput {
  const [images, channels, ...image] = shapeOfOperand(x);
  if (channels % groups !== 0) reader.invalid(`${channels} channels in ${groups} groups`);
  refuseLater(reader, x);
  const pixels = elementsOfShape(image);
  const width = (channels / groups) * pixels;
  // Before operator set 21 a scale belongs to a group, later to a channel.
  const scales = elementsOfShape(shapeOfOperand(scale));
  const byGroup = scales === groups && (reader.opset < 21 || groups === channels);
  return standardized(reader, x, scale, bias, {
    width,
    rows: images * groups,
    inner: byGroup ? width : pixels,
    period: byGroup ? groups : channels,
  })[0];
}

/** Each row along the last extent to mean 0 and variance 1. @returns these, their means and 1 / their deviations */
export function rowNormalized(
  reader: NodeReader,
  x: Operand,
  scale: Operand,
  bias: Operand | undefined,
  epsilon: number,
): readonly NodeInput[] {
  const shape = shapeOfOperand(x);
  const width = shape[shape.length - 1];
  const dataType = typeOfOperand(x);
  const batch = batchOfOperand(x);
  if (batch?.axis === shape.length - 1) reader.refuseMixing(`axis ${batch.axis}`);
  const means = { shape: [...shape.slice(0, -1), 1], batch, dataType };
  const rows = { width, rows: elementsOfShape(shape) / width, inner: 1, period: width };
  return standardized(reader, x, scale, bias, rows, [means, means], epsilon);
}

function refuseLater(reader: NodeReader, x: Operand): void {
  const axis = batchOfOperand(x)?.axis ?? 0;
  if (axis !== 0) reader.refuseMixing(`a batch along axis ${axis}`);
}

function softmax(kind: SoftmaxKind): Translate {
  return (reader) => {
    const x = reader.numeric(0);
    const shape = shapeOfOperand(x);
    // Up to operator set 12 everything behind the axis is one row, later the axis alone is.
    const isFlattening = reader.opset < 13;
    const given = reader.integer('axis', isFlattening ? 1 : -1);
    const axis = reader.ownAxis(given, x);
    const batch = batchOfOperand(x);
    if (isFlattening && batch !== undefined && batch.axis > axis) reader.refuseMixing(`axis ${given}`);
    const width = elementsOfShape(shape);
    return isFlattening
      ? softmaxAlong(reader, x, kind, { width, extent: elementsOfShape(shape.slice(axis)), inner: 1 })
      : softmaxAlong(reader, x, kind, alongAxis(x, axis));
  };
}

/** Along the last axis. */
export function softmaxOf(reader: NodeReader, x: Operand, kind: SoftmaxKind): NodeInput {
  return softmaxAlong(reader, x, kind, alongAxis(x, reader.ownAxis(-1, x)));
}

function softmaxAlong(reader: NodeReader, x: Operand, kind: SoftmaxKind, along: Along): NodeInput {
  const result = { shape: shapeOfOperand(x), batch: batchOfOperand(x), dataType: typeOfOperand(x) };
  return reader.result(result, [x], (emission) =>
    kind === 'softmax' && along.inner === 1 && 'value' in x
      ? addSoftmax(emission.draft, emission.tensor(x.value), along.extent)
      : addSoftmaxAlong(emission.draft, emission.source(x), along, kind),
  );
}

const meanVariance: Translate = (reader) => {
  const x = reader.numeric(0);
  const axes = reader.integerList('axes') ?? [0, 2, 3];
  const [pair, math] = calculator(reader);
  const mean = operandOf(reader, reduced(reader, x, 'mean', axes, true));
  const squares = operandOf(reader, reduced(reader, pair('multiply', x, x), 'mean', axes, true));
  const deviation = math({ op: 'squareRoot' }, pair('subtract', squares, pair('multiply', mean, mean)));
  return pair('divide', pair('subtract', x, mean), math({ op: 'affine', a: 1, b: 1e-9 }, deviation));
};

const lpNormalization: Translate = (reader) => {
  const x = reader.numeric(0);
  const axis = reader.integer('axis', -1);
  const kind = reader.integer('p', 2) === 1 ? 'l1' : 'l2';
  return pairOf(reader, 'divide', x, operandOf(reader, reduced(reader, x, kind, [axis], true)));
};

const localResponse: Translate = (reader) => {
  const x = castTo(reader, reader.numeric(0), FLOAT);
  const shape = shapeOfOperand(x);
  refuseLater(reader, x);
  const parameters = {
    size: reader.integer('size', 1),
    alpha: reader.float('alpha', 1e-4),
    beta: reader.float('beta', 0.75),
    bias: reader.float('bias', 1),
  };
  if (!(parameters.size >= 1)) reader.invalid(`a size of ${parameters.size}`);
  return reader.result({ shape, batch: batchOfOperand(x), dataType: FLOAT }, [x], ({ draft, source }) => {
    const { width, extent, inner } = alongAxis(x, 1);
    return addLocalResponse(draft, source(x, 'f32'), { width, channels: extent, inner }, parameters);
  });
};

export const NORMALIZATIONS: OperatorTable = {
  BatchNormalization: { translate: batchNormalization, limits: 'for inference' },
  LayerNormalization: { translate: layerNormalization, limits: 'not over the batch' },
  InstanceNormalization: { translate: instanceNormalization },
  GroupNormalization: { translate: groupNormalization },
  Softmax: { translate: softmax('softmax'), limits: 'not along the batch' },
  LogSoftmax: { translate: softmax('logSoftmax'), limits: 'not along the batch' },
  Hardmax: { translate: softmax('hardmax'), limits: 'not along the batch' },
  MeanVarianceNormalization: { translate: meanVariance, limits: 'not over the batch' },
  LpNormalization: { translate: lpNormalization, limits: 'not along the batch' },
  LRN: { translate: localResponse },
};
