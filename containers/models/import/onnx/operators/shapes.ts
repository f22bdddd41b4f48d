import { listOf, listResult } from '../extentLists.js';
import {
  elementsOfShape,
  shapeOfOperand,
  type BatchPlace,
  type Extent,
  type GraphValue,
  type NodeInput,
  type Operand,
} from '../graphValues.js';
import type { NodeReader } from '../nodeReader.js';
import { stridesOf } from '../../geometry.js';
import { FLOAT, INT64 } from '../tensorValues.js';
import type { OperatorTable, Translate, Translation } from '../translation.js';

/* Nodes that change shapes alone, and numbers that are made of shapes. */

/** A value's extents, with the batch's where it lies. */
function extentsOf({ shape, batch }: GraphValue): readonly Extent[] {
  return shape.map((extent, axis) => (axis === batch?.axis ? { times: extent } : extent));
}

const shape: Translate = (reader) => {
  const input = reader.input(0);
  if ('list' in input) {
    const { extents, isScalar } = input.list;
    return listResult({ extents: isScalar ? [] : [extents.length], isScalar: false });
  }
  const all = 'value' in input ? extentsOf(input.value) : input.constant.dims;
  const [start, end] = [reader.integer('start', 0), reader.integer('end', all.length)];
  return listResult({ extents: all.slice(start, end), isScalar: false });
};

const size: Translate = (reader) => {
  const input = reader.operand(0);
  const batch = 'value' in input ? input.value.batch : undefined;
  const elements = elementsOfShape(shapeOfOperand(input));
  return listResult({ extents: [batch === undefined ? elements : { times: elements }], isScalar: true });
};

const reshape: Translate = (reader) => {
  const keepsZero = reader.integer('allowzero', 0) !== 0;
  const wanted =
    reader.optional(1) === undefined
      ? (reader.integerList('shape') ?? reader.invalid('its shape is missing'))
      : listOf(reader, 1).extents;
  return reshaped(reader, reader.input(0), wanted, keepsZero);
};

/** Another shape of the same elements. */
export function reshaped(
  reader: NodeReader,
  source: NodeInput,
  wanted: readonly Extent[],
  keepsZero = false,
): Translation {
  if ('list' in source) {
    const isScalar = wanted.length === 0;
    const isList = wanted.length === 1 && (wanted[0] === -1 || wanted[0] === source.list.extents.length);
    if (isScalar || isList) return { list: { ...source.list, isScalar } };
    return reader.refuse("a list that is made of the batch's extent");
  }
  if ('constant' in source) {
    const numbers = wanted.map((extent) => (typeof extent === 'number' ? extent : extent.times));
    const dims = filledShape(reader, source.constant.dims, numbers, keepsZero);
    return { constant: { ...source.constant, dims } };
  }
  const { value } = source;
  if (value.batch === undefined) {
    const numbers = wanted.map((extent) => (typeof extent === 'number' ? extent : extent.times));
    return { value: { ...value, shape: filledShape(reader, value.shape, numbers, keepsZero) } };
  }
  return { value: batchReshaped(reader, value, value.batch, wanted, keepsZero) };
}

/** The same of an operand; 0: the extent stays. */
export function reshapedTo(reader: NodeReader, operand: Operand, wanted: readonly number[]): Operand {
  const result = reshaped(reader, operand, wanted);
  if ('length' in result || 'list' in result) return reader.invalid('a list of numbers has no other shape');
  return result;
}

/** The batch must stay within one axis, behind as many elements as it was. */
function batchReshaped(
  reader: NodeReader,
  value: GraphValue,
  batch: BatchPlace,
  wanted: readonly Extent[],
  keepsZero: boolean,
): GraphValue {
  const before = batch.before * elementsOfShape(value.shape.slice(0, batch.axis));
  const { fixedBatch } = reader;
  const misfit = (): never =>
    reader.refuseMixing(
      `[${value.shape.map((extent, axis) => (axis === batch.axis ? 'batch' : extent)).join(', ')}] made [${wanted.map((extent) => (typeof extent === 'number' ? extent : 'batch')).join(', ')}]`,
    );
  let axis = wanted.findIndex((extent) => typeof extent !== 'number');
  if (axis < 0 && !keepsZero && wanted[batch.axis] === 0) axis = batch.axis;
  const fill = (at: number): readonly number[] | undefined => {
    const numbers = wanted.map((extent, place) => {
      if (typeof extent !== 'number') return extent.times;
      return place === at && extent > 1 && fixedBatch !== undefined ? extent / fixedBatch : extent;
    });
    const shape = tryFill(value.shape, numbers, keepsZero);
    if (shape === undefined) return undefined;
    const outside = elementsOfShape(shape.slice(0, at));
    const inAxis = before / outside;
    return Number.isInteger(inAxis) && shape[at] % inAxis === 0 ? shape : undefined;
  };
  // Where nothing says which axis has the batch: the one that is to be counted, or one of 1 or of the file's batch.
  const candidates =
    axis >= 0
      ? [axis]
      : wanted.flatMap((extent, at) => {
          const isCounted = extent === -1;
          const isOne = extent === 1 && (at === batch.axis || at === 0);
          const isFixed = fixedBatch !== undefined && typeof extent === 'number' && extent % fixedBatch === 0;
          return isCounted || isOne || isFixed ? [at] : [];
        });
  for (const at of candidates) {
    const shape = fill(at);
    if (shape === undefined) continue;
    return { ...value, shape, batch: { axis: at, before: before / elementsOfShape(shape.slice(0, at)) } };
  }
  return misfit();
}

function filledShape(
  reader: NodeReader,
  from: readonly number[],
  wanted: readonly number[],
  keepsZero: boolean,
): readonly number[] {
  return (
    tryFill(from, wanted, keepsZero) ??
    reader.refuse(`[${from.join(', ')}] cannot become [${wanted.join(', ')}]`)
  );
}

/** A shape with its -1 and 0 filled in. */
function tryFill(
  from: readonly number[],
  wanted: readonly number[],
  keepsZero: boolean,
): readonly number[] | undefined {
  const elements = elementsOfShape(from);
  const filled = wanted.map((extent, axis) => (extent === 0 && !keepsZero ? (from[axis] ?? -2) : extent));
  const known = elementsOfShape(filled.filter((extent) => extent !== -1));
  const shape = filled.map((extent) => (extent === -1 ? elements / known : extent));
  const fits =
    elementsOfShape(shape) === elements && shape.every((extent) => Number.isInteger(extent) && extent > 0);
  return fits ? shape : undefined;
}

const flatten: Translate = (reader) => {
  const source = reader.operand(0);
  const before = shapeOfOperand(source);
  const given = reader.integer('axis', 1);
  const axis = given < 0 ? given + before.length : given;
  if (axis < 0 || axis > before.length) reader.invalid(`axis ${given} of ${before.length} extents`);
  const [outer, inner] = [elementsOfShape(before.slice(0, axis)), elementsOfShape(before.slice(axis))];
  if ('constant' in source) return { constant: { ...source.constant, dims: [outer, inner] } };
  const { value } = source;
  if (value.batch === undefined) return { value: { ...value, shape: [outer, inner] } };
  const isOuter = value.batch.axis < axis;
  const at = isOuter ? 0 : 1;
  const ahead = value.batch.before * elementsOfShape(before.slice(isOuter ? 0 : axis, value.batch.axis));
  return { value: { ...value, shape: [outer, inner], batch: { axis: at, before: ahead } } };
};

const unsqueeze: Translate = (reader) => {
  const input = reader.input(0);
  const axes = reader.numbers(1, 'axes') ?? reader.invalid('axes are missing');
  if ('list' in input) {
    if (!input.list.isScalar || axes.length !== 1 || (axes[0] !== 0 && axes[0] !== -1)) {
      reader.refuse('only a list of one number is made of a number');
    }
    return listResult({ ...input.list, isScalar: false });
  }
  const before = shapeOfOperand(input);
  const rank = before.length + axes.length;
  const placed = axes.map((axis) => (axis < 0 ? axis + rank : axis));
  if (new Set(placed).size < axes.length || placed.some((axis) => axis < 0 || axis >= rank)) {
    reader.invalid(`axes ${axes.join(', ')} of ${rank} extents`);
  }
  const old = Array.from({ length: rank }, (_, axis) => axis).filter((axis) => !placed.includes(axis));
  return withAxes(input, rank, (axis) => old.indexOf(axis));
};

const squeeze: Translate = (reader) => {
  const input = reader.input(0);
  const axes = reader.numbers(1, 'axes');
  if ('list' in input) {
    if (input.list.isScalar || input.list.extents.length !== 1)
      reader.refuse('only a list of one number is supported');
    return listResult({ ...input.list, isScalar: true });
  }
  const before = shapeOfOperand(input);
  const batch = 'value' in input ? input.value.batch : undefined;
  if (axes === undefined && batch !== undefined)
    reader.refuseMixing('dropping every extent of 1, the batch too,');
  const placed = axes?.map((axis) => reader.axis(axis, before.length));
  if (batch !== undefined && placed?.includes(batch.axis) === true)
    reader.refuseMixing(`axis ${batch.axis}, the batch`);
  const isDropped = (axis: number): boolean => placed?.includes(axis) ?? before[axis] === 1;
  if (before.some((extent, axis) => isDropped(axis) && extent !== 1)) {
    reader.invalid(`axes ${(axes ?? []).join(', ')} of the shape [${before.join(', ')}]`);
  }
  const kept = before.flatMap((_, axis) => (isDropped(axis) ? [] : [axis]));
  return withAxes(input, kept.length, (axis) => kept[axis]);
};

/** @param from the axis that each new one was; below 0: it is new. */
function withAxes(input: Operand, rank: number, from: (axis: number) => number): NodeInput {
  const before = shapeOfOperand(input);
  const places = Array.from({ length: rank }, (_, axis) => from(axis));
  const shape = places.map((axis) => (axis < 0 ? 1 : before[axis]));
  if ('constant' in input) return { constant: { ...input.constant, dims: shape } };
  const { value } = input;
  const batch = value.batch && { ...value.batch, axis: places.indexOf(value.batch.axis) };
  return { value: { ...value, shape, batch } };
}

const constant: Translate = (reader) => {
  const { attributes } = reader.node;
  const tensor = attributes.get('value')?.tensor;
  if (tensor !== undefined) return { constant: tensor };
  for (const name of ['value_floats', 'value_ints'] as const) {
    const list = attributes.get(name);
    if (list === undefined) continue;
    const values = Float64Array.from(name === 'value_floats' ? list.floats : list.integers);
    const dataType = name === 'value_floats' ? FLOAT : INT64;
    return { constant: { name: '', dims: [values.length], dataType, values } };
  }
  const single = attributes.get('value_float') ?? attributes.get('value_int');
  if (single === undefined) return reader.refuse('only value, value_float(s) and value_int(s) are supported');
  const isFloat = single.name === 'value_float';
  const values = Float64Array.of(isFloat ? single.float : single.integer);
  return { constant: { name: '', dims: [], dataType: isFloat ? FLOAT : INT64, values } };
};

/** The same value everywhere; along the batch there is one, as it repeats itself. */
const constantOfShape: Translate = (reader) => {
  const { extents } = listOf(reader, 0);
  const given = reader.node.attributes.get('value')?.tensor;
  const dims = extents.map((extent) => (typeof extent === 'number' ? extent : extent.times));
  const elements = elementsOfShape(dims);
  if (elements > 2 ** 26) reader.refuse(`${elements} values are too many`);
  const values = new Float64Array(elements).fill(given?.values[0] ?? 0);
  return { constant: { name: '', dims, dataType: given?.dataType ?? FLOAT, values } };
};

const range: Translate = (reader) => {
  const [start, limit, delta] = [0, 1, 2].map((place) => reader.constant(place).values[0]);
  const count = Math.max(0, Math.ceil((limit - start) / delta));
  if (!(count <= 2 ** 26)) reader.refuse(`${count} values are too many`);
  const values = Float64Array.from({ length: count }, (_, k) => start + k * delta);
  return { constant: { name: '', dims: [count], dataType: reader.constant(0).dataType, values } };
};

const eyeLike: Translate = (reader) => {
  const input = reader.operand(0);
  const [rows, columns] = shapeOfOperand(input);
  const shift = reader.integer('k', 0);
  const values = new Float64Array(rows * columns);
  const [step] = stridesOf([rows, columns]);
  for (let row = 0; row < rows; row++) {
    if (row + shift >= 0 && row + shift < columns) values[row * step + row + shift] = 1;
  }
  return { constant: { name: '', dims: [rows, columns], dataType: reader.integer('dtype', FLOAT), values } };
};

export const SHAPES: OperatorTable = {
  Shape: { translate: shape },
  Size: { translate: size },
  Reshape: { translate: reshape, limits: 'the batch stays within one axis' },
  Flatten: { translate: flatten },
  Squeeze: { translate: squeeze, limits: 'not of the batch' },
  Unsqueeze: { translate: unsqueeze },
  Constant: { translate: constant, limits: 'of numbers' },
  ConstantOfShape: { translate: constantOfShape },
  Range: { translate: range, limits: 'of constants' },
  EyeLike: { translate: eyeLike },
};
