import { elementsOfShape, type GraphValue } from './graphOps.js';
import { BATCH, type ExtentList, type NodeReader } from './nodeReader.js';
import type { OnnxTensor } from './onnxModel.js';
import { DATA_TYPES, DOUBLE, FLOAT, INT32, INT64 } from './tensorValues.js';
import type { Translation } from './translation.js';

/* Nodes that compute with shapes, and with constants: an exporter writes such chains for `x.view(x.size(0), -1)`. */

export function translationOfList(list: ExtentList): Translation {
  const { extents, isScalar } = list;
  const numbers = extents.filter((extent) => extent !== BATCH);
  if (numbers.length < extents.length) return { list };
  const dims = isScalar ? [] : [numbers.length];
  return { constant: { name: '', dims, dataType: INT64, values: Float64Array.from(numbers) } };
}

export function shapeOf(reader: NodeReader): Translation {
  const input = reader.input(0);
  if ('list' in input) {
    const { extents, isScalar } = input.list;
    return translationOfList({ extents: isScalar ? [] : [extents.length], isScalar: false });
  }
  const all: readonly (number | typeof BATCH)[] =
    'value' in input ? [BATCH, ...input.value.shape] : input.constant.dims;
  const [start, end] = [reader.integer('start', 0), reader.integer('end', all.length)];
  return translationOfList({ extents: all.slice(start, end), isScalar: false });
}

export function gather(reader: NodeReader): Translation {
  const data = shapeList(reader, 0);
  if (reader.integer('axis', 0) > 0) reader.refuse('only axis 0 of a list of numbers is supported');
  const { dims, values } = reader.constant(1);
  if (dims.length > 1)
    reader.refuse(`indices of the shape [${dims.join(', ')}], only one extent is supported`);
  const extents = Array.from(values, (given) => {
    const extent = data.extents.at(given);
    return extent ?? reader.invalid(`index ${given} of ${data.extents.length} numbers`);
  });
  return translationOfList({ extents, isScalar: dims.length === 0 });
}

export function slice(reader: NodeReader): Translation {
  const { extents } = shapeList(reader, 0);
  const [starts, ends] = [reader.numbers(1, 'starts'), reader.numbers(2, 'ends')];
  const [axes, steps] = [reader.numbers(3, 'axes') ?? [0], reader.numbers(4, 'steps') ?? [1]];
  if (starts?.length !== 1 || ends?.length !== 1 || axes.length !== 1 || (axes[0] !== 0 && axes[0] !== -1)) {
    return reader.refuse('only a slice of one extent is supported');
  }
  if (steps[0] !== 1) reader.refuse(`a step of ${steps[0]} is not supported`);
  return translationOfList({ extents: extents.slice(starts[0], ends[0]), isScalar: false });
}

export function concat(reader: NodeReader): Translation {
  const axis = reader.integer('axis', 0);
  if (axis !== 0 && axis !== -1) reader.refuse(`axis ${axis}: only lists of numbers are put together`);
  const extents = reader.node.inputs.flatMap((_, place) => shapeList(reader, place).extents);
  return translationOfList({ extents, isScalar: false });
}

export function unsqueeze(reader: NodeReader): Translation {
  const input = reader.input(0);
  const axes = reader.numbers(1, 'axes') ?? reader.invalid('axes are missing');
  if ('list' in input) {
    if (!input.list.isScalar || axes.length !== 1 || (axes[0] !== 0 && axes[0] !== -1)) {
      reader.refuse('only a list of one number is made of a number');
    }
    return translationOfList({ ...input.list, isScalar: false });
  }
  const before = 'value' in input ? [1, ...input.value.shape] : input.constant.dims;
  const rank = before.length + axes.length;
  const placed = axes.map((axis) => (axis < 0 ? axis + rank : axis));
  if (new Set(placed).size < axes.length || placed.some((axis) => axis < 0 || axis >= rank)) {
    reader.invalid(`axes ${axes.join(', ')} of ${rank} extents`);
  }
  const rest = [...before];
  const shape = Array.from({ length: rank }, (_, axis) => (placed.includes(axis) ? 1 : (rest.shift() ?? 1)));
  return withShape(reader, input, shape, placed);
}

export function squeeze(reader: NodeReader): Translation {
  const input = reader.input(0);
  const axes = reader.numbers(1, 'axes');
  if ('list' in input) {
    if (input.list.isScalar || input.list.extents.length !== 1)
      reader.refuse('only a list of one number is supported');
    return translationOfList({ ...input.list, isScalar: true });
  }
  const before = 'value' in input ? [1, ...input.value.shape] : input.constant.dims;
  if (axes === undefined && 'value' in input)
    reader.refuse('without axes it would drop a batch of one query');
  const placed = axes?.map((axis) => (axis < 0 ? axis + before.length : axis));
  const dropped = before.flatMap((extent, axis) => ((placed?.includes(axis) ?? extent === 1) ? [axis] : []));
  if (
    dropped.some((axis) => before[axis] !== 1) ||
    (placed ?? []).some((axis) => axis < 0 || axis >= before.length)
  ) {
    reader.invalid(`axes ${(axes ?? []).join(', ')} of the shape [${before.join(', ')}]`);
  }
  const shape = before.filter((_, axis) => !dropped.includes(axis));
  return withShape(reader, input, shape, dropped);
}

/** @param changed axes that come or go: the batch's stays where it is. */
function withShape(
  reader: NodeReader,
  input: { readonly value: GraphValue } | { readonly constant: OnnxTensor },
  shape: readonly number[],
  changed: readonly number[],
): Translation {
  if ('constant' in input) return { constant: { ...input.constant, dims: shape } };
  if (changed.includes(0)) reader.refuse('axis 0 is the batch, which must stay the first');
  return { alias: { ...input.value, shape: shape.slice(1) } };
}

export function transpose(reader: NodeReader): Translation {
  const input = reader.input(0);
  if ('list' in input) return reader.refuse("a list that is made of the batch's extent");
  const before = 'value' in input ? [1, ...input.value.shape] : input.constant.dims;
  const given = reader.node.attributes.get('perm')?.integers;
  const order = given ?? before.map((_, axis) => before.length - 1 - axis);
  if (order.length !== before.length || [...order].sort((a, b) => a - b).some((axis, at) => axis !== at)) {
    reader.invalid(`perm [${order.join(', ')}] of ${before.length} extents`);
  }
  const dims = order.map((axis) => before[axis]);
  if ('constant' in input)
    return { constant: { ...input.constant, dims, values: transposed(input.constant, order) } };
  const wide = order.filter((axis) => axis > 0 && before[axis] !== 1);
  if (order[0] !== 0 || wide.some((axis, at) => at > 0 && axis < wide[at - 1])) {
    reader.refuse(
      `perm [${order.join(', ')}] moves a query's values [${before.slice(1).join(', ')}], only constants are transposed`,
    );
  }
  return { alias: { ...input.value, shape: dims.slice(1) } };
}

function transposed({ dims, values }: OnnxTensor, order: readonly number[]): Float64Array {
  const strides = dims.map((_, axis) => elementsOfShape(dims.slice(axis + 1)));
  const result = new Float64Array(values.length);
  const at = order.map(() => 0);
  let from = 0;
  for (let index = 0; index < result.length; index++) {
    result[index] = values[from];
    for (let axis = order.length - 1; axis >= 0; axis--) {
      from += strides[order[axis]];
      if (++at[axis] < dims[order[axis]]) break;
      from -= strides[order[axis]] * at[axis];
      at[axis] = 0;
    }
  }
  return result;
}

export function cast(reader: NodeReader): Translation {
  const to = reader.integer('to', 0);
  const input = reader.input(0);
  const type = DATA_TYPES[to] ?? `data type ${to}`;
  const isWhole = to === INT32 || to === INT64;
  if ('list' in input) return isWhole ? { list: input.list } : reader.refuse(`a shape becomes ${type}`);
  if ('value' in input) {
    if (to !== FLOAT) reader.refuse(`values of the query become ${type}, only float is supported`);
    return { alias: input.value };
  }
  if (!isWhole && to !== FLOAT && to !== DOUBLE)
    reader.refuse(`a constant becomes ${type}, which is not supported`);
  const round = isWhole ? Math.trunc : to === FLOAT ? Math.fround : (value: number) => value;
  return {
    constant: { ...input.constant, dataType: to, values: input.constant.values.map((one) => round(one)) },
  };
}

export function flatten(reader: NodeReader): Translation {
  const x = reader.value(0);
  const given = reader.integer('axis', 1);
  const axis = given < 0 ? given + x.shape.length + 1 : given;
  if (axis !== 1) reader.refuse(`axis ${given} would mix the queries of a batch, only 1 is supported`);
  return { alias: { ...x, shape: [elementsOfShape(x.shape)] } };
}

export function reshape(reader: NodeReader): Translation {
  const source = reader.input(0);
  const wanted = reader.list(1).extents;
  if (reader.integer('allowzero', 0) !== 0 && wanted.includes(0))
    reader.refuse('allowzero=1 is not supported');
  if ('list' in source) return reader.refuse("a list that is made of the batch's extent");
  if ('constant' in source) {
    const { constant } = source;
    return { constant: { ...constant, dims: reshaped(reader, constant.dims, withoutBatch(reader, wanted)) } };
  }
  const { value } = source;
  const [first, ...others] = wanted;
  const batch = first === BATCH ? 0 : first;
  if (batch === undefined || (batch !== 0 && batch !== -1 && batch !== 1)) {
    reader.refuse(`the first extent must keep the batch (0, -1 or 1), it is ${batch ?? 'missing'}`);
  }
  const rest = withoutBatch(reader, others);
  // The batch stays apart, so that its extent needs no number.
  if (batch === -1 && rest.includes(-1)) reader.invalid('two extents are -1');
  const shifted = rest.map((extent, axis) => (extent === 0 ? value.shape[axis] : extent));
  return { alias: { ...value, shape: reshaped(reader, value.shape, shifted) } };
}

function withoutBatch(reader: NodeReader, wanted: readonly (number | typeof BATCH)[]): readonly number[] {
  const numbers = wanted.filter((extent) => extent !== BATCH);
  if (numbers.length < wanted.length) reader.refuse("the batch's extent must be the first and no other");
  return numbers;
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

function shapeList(reader: NodeReader, place: number): ExtentList {
  if ('value' in reader.input(place)) {
    reader.refuse(`input ${place} is a value of the query, only shapes and constants are supported`);
  }
  return reader.list(place);
}
