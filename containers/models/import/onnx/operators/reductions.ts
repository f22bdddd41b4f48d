import { placesOf, stridesOf } from '../../geometry.js';
import {
  addArgument,
  addBest,
  addReduction,
  addSumsSoFar,
  type Along,
  type Reduction,
} from '../../layers/reductionLayers.js';
import {
  batchOfOperand,
  elementsOfShape,
  shapeOfOperand,
  typeOfOperand,
  type ConstantOperand,
  type NodeInput,
  type Operand,
} from '../graphValues.js';
import type { NodeReader } from '../nodeReader.js';
import { INT64, isWholeType } from '../tensorValues.js';
import type { OperatorTable, Translate } from '../translation.js';
import { mathOf, operandOf } from './elementwise.js';

function reduction(kind: Reduction): Translate {
  return (reader) => {
    const x = reader.numeric(0);
    const axes = reader.numbers(1, 'axes') ?? [];
    if (axes.length === 0 && reader.integer('noop_with_empty_axes', 0) === 1) return x;
    return reduced(reader, x, kind, axes, reader.integer('keepdims', 1) === 1);
  };
}

/** @param axes none: all */
export function reduced(
  reader: NodeReader,
  x: Operand,
  kind: Reduction,
  axes: readonly number[],
  keepsAxes: boolean,
): NodeInput {
  const before = shapeOfOperand(x);
  const chosen = new Set(
    axes.length === 0
      ? before.map((_, axis) => reader.ownAxis(axis, x))
      : axes.map((axis) => reader.ownAxis(axis, x)),
  );
  const strides = stridesOf(before);
  const split = (is: boolean) =>
    before.flatMap((extent, axis) => (chosen.has(axis) === is ? [{ extent, strides: [strides[axis]] }] : []));
  const shape = keepsAxes
    ? before.map((extent, axis) => (chosen.has(axis) ? 1 : extent))
    : before.filter((_, axis) => !chosen.has(axis));
  const old = batchOfOperand(x);
  const gone = keepsAxes ? 0 : [...chosen].filter((axis) => old !== undefined && axis < old.axis).length;
  const batch = old && { ...old, axis: old.axis - gone };
  const dataType = typeOfOperand(x);
  if ('constant' in x) return constantReduction(reader, x, kind, shape, split(false), split(true));
  const result = reader.result({ shape, batch, dataType }, [x], ({ draft, source }) =>
    addReduction(draft, source(x), kind, split(false), split(true)),
  );
  return kind === 'mean' && isWholeType(dataType)
    ? mathOf(reader, operandOf(reader, result), { op: 'truncate' })
    : result;
}

/** Sums, products and extremes of constants: what shapes are computed with. */
function constantReduction(
  reader: NodeReader,
  { constant }: ConstantOperand,
  kind: Reduction,
  dims: readonly number[],
  kept: readonly { extent: number; strides: readonly number[] }[],
  terms: readonly { extent: number; strides: readonly number[] }[],
): NodeInput {
  const combine: Partial<Record<Reduction, (total: number, value: number) => number>> = {
    sum: (total, value) => total + value,
    product: (total, value) => total * value,
    largest: Math.max,
    smallest: Math.min,
    mean: (total, value) => total + value,
  };
  const join = combine[kind] ?? reader.refuse('of a constant: let the exporter fold it');
  const one = [{ extent: 1, strides: [0] }];
  const starts = Array.from(placesOf(kept.length === 0 ? one : kept), ([place]) => place);
  const offsets = Array.from(placesOf(terms.length === 0 ? one : terms), ([place]) => place);
  const values = Float64Array.from(starts, (start) => {
    const total = offsets
      .map((offset) => constant.values[start + offset])
      .reduce((sum, value) => join(sum, value));
    return kind === 'mean' ? total / offsets.length : total;
  });
  return { constant: { name: '', dims, dataType: constant.dataType, values } };
}

/** An axis of an operand, for kernels that go along it. */
export function alongAxis(operand: Operand, axis: number): Along {
  const shape = shapeOfOperand(operand);
  return {
    width: elementsOfShape(shape),
    extent: shape[axis],
    inner: elementsOfShape(shape.slice(axis + 1)),
  };
}

function argument(sign: 1 | -1): Translate {
  return (reader) => {
    const x = reader.numeric(0);
    const axis = reader.ownAxis(reader.integer('axis', 0), x);
    const isLast = reader.integer('select_last_index', 0) === 1;
    return argumentOf(reader, x, axis, sign, isLast, reader.integer('keepdims', 1) === 1);
  };
}

export function argumentOf(
  reader: NodeReader,
  x: Operand,
  axis: number,
  sign: 1 | -1,
  isLast: boolean,
  keepsAxis: boolean,
): NodeInput {
  const before = shapeOfOperand(x);
  const old = batchOfOperand(x);
  const shape = keepsAxis
    ? before.map((extent, k) => (k === axis ? 1 : extent))
    : before.filter((_, k) => k !== axis);
  const batch = old && { ...old, axis: !keepsAxis && axis < old.axis ? old.axis - 1 : old.axis };
  return reader.result({ shape, batch, dataType: INT64 }, [x], ({ draft, source }) =>
    addArgument(draft, source(x), alongAxis(x, axis), sign, isLast),
  );
}

const sumsSoFar: Translate = (reader) => {
  const x = reader.numeric(0);
  const axis = reader.ownAxis(reader.constant(1).values[0], x);
  const [exclusive, reverse] = ['exclusive', 'reverse'].map((name) => reader.integer(name, 0) === 1);
  const result = { shape: shapeOfOperand(x), batch: batchOfOperand(x), dataType: typeOfOperand(x) };
  return reader.result(result, [x], ({ draft, source }) =>
    addSumsSoFar(draft, source(x), alongAxis(x, axis), exclusive, reverse),
  );
};

const topK: Translate = (reader) => {
  const x = reader.numeric(0);
  const axis = reader.ownAxis(reader.integer('axis', -1), x);
  const chosen = reader.opset < 10 ? reader.integer('k', 0) : reader.constant(1).values[0];
  const before = shapeOfOperand(x);
  if (!(chosen >= 1 && chosen <= before[axis])) reader.invalid(`k is ${chosen} of ${before[axis]} elements`);
  const sign = reader.integer('largest', 1) === 1 ? 1 : -1;
  const shape = before.map((extent, k) => (k === axis ? chosen : extent));
  const batch = batchOfOperand(x);
  return reader.results(
    [
      { shape, batch, dataType: typeOfOperand(x) },
      { shape, batch, dataType: INT64 },
    ],
    [x],
    ({ draft, source }) => addBest(draft, source(x), alongAxis(x, axis), chosen, sign),
  );
};

const REDUCTION_OPERATORS: Readonly<Record<string, Reduction>> = {
  ReduceSum: 'sum',
  ReduceMean: 'mean',
  ReduceMax: 'largest',
  ReduceMin: 'smallest',
  ReduceProd: 'product',
  ReduceSumSquare: 'sumOfSquares',
  ReduceL1: 'l1',
  ReduceL2: 'l2',
  ReduceLogSum: 'logSum',
  ReduceLogSumExp: 'logSumExp',
};

export const REDUCTIONS: OperatorTable = {
  ...Object.fromEntries(
    Object.entries(REDUCTION_OPERATORS).map(([name, kind]) => [
      name,
      { translate: reduction(kind), limits: 'not over the batch; axes constant' },
    ]),
  ),
  ArgMax: { translate: argument(1), limits: 'not over the batch' },
  ArgMin: { translate: argument(-1), limits: 'not over the batch' },
  CumSum: { translate: sumsSoFar, limits: 'not along the batch' },
  TopK: { translate: topK, limits: 'not along the batch; k constant; always in order' },
};
