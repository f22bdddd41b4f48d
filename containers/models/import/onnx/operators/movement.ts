import { placesOf, stridesOf, broadcastStrides } from '../../geometry.js';
import { addCopyInto, addLookUp, addOneHot, addTake, type Strided } from '../../layers/stridedLayers.js';
import { listOf, listResult } from '../extentLists.js';
import {
  batchOfOperand,
  elementsOfShape,
  shapeOfOperand,
  typeOfOperand,
  type BatchPlace,
  type Extent,
  type NodeInput,
  type Operand,
} from '../graphValues.js';
import type { NodeReader } from '../nodeReader.js';
import { INT64, elementOfType } from '../tensorValues.js';
import type { OperatorTable, Translate, Translation } from '../translation.js';
import { castTo, operandOf } from './elementwise.js';
import { reshaped } from './shapes.js';

/* Nodes that put elements elsewhere. */

/** A part of a result, and where its elements come from. */
interface Piece {
  readonly operand: Operand;
  readonly extents: readonly number[];
  readonly from: Strided;
  readonly to: Strided;
}

/** A result that is put together of pieces, each element of it of one. */
export function assembled(
  reader: NodeReader,
  shape: readonly number[],
  batch: BatchPlace | undefined,
  pieces: readonly Piece[],
): NodeInput {
  const dataType = typeOfOperand(pieces[0].operand);
  const texts =
    'value' in pieces[0].operand ? pieces[0].operand.value.texts : pieces[0].operand.constant.texts;
  if (pieces.every(({ operand }) => 'constant' in operand)) {
    const known = new Set(
      pieces.map(({ operand }) => ('constant' in operand ? operand.constant.values : [])),
    );
    const most = Array.from(known).reduce((sum, { length }) => sum + length, 0);
    const values = new Float64Array(reader.madeElements(shape, most));
    for (const { operand, extents, from, to } of pieces) {
      if (!('constant' in operand)) continue;
      const axes = extents.map((extent, axis) => ({
        extent,
        strides: [from.strides[axis], to.strides[axis]],
      }));
      for (const [source, target] of placesOf(axes.length === 0 ? [{ extent: 1, strides: [0, 0] }] : axes)) {
        values[to.start + target] = operand.constant.values[from.start + source];
      }
    }
    return {
      constant: { name: '', dims: shape, dataType, values, ...(texts === undefined ? {} : { texts }) },
    };
  }
  const operands = pieces.map(({ operand }) => operand);
  const columns = movedColumns(reader, shape, pieces);
  if (columns !== undefined && 'value' in operands[0])
    return { value: { ...operands[0].value, shape, batch, columns } };
  if (texts !== undefined) reader.refuse('strings can only be passed on');
  return reader.result({ shape, batch, dataType }, operands, ({ draft, source }) => {
    const element = elementOfType(dataType);
    const y = draft.tensor(draft.layerName('moved'), element, elementsOfShape(shape));
    for (const { operand, extents, from, to } of pieces) {
      addCopyInto(draft, source(operand, element), y, extents, from, to);
    }
    return y;
  });
}

/** Of strings of the query: they go along with their columns. */
function movedColumns(
  reader: NodeReader,
  shape: readonly number[],
  pieces: readonly Piece[],
): readonly number[] | undefined {
  const isOfColumns = ({ operand }: Piece): boolean =>
    'value' in operand && operand.value.columns !== undefined;
  if (!pieces.some(isOfColumns)) return undefined;
  if (!pieces.every(isOfColumns)) reader.refuse('strings of the query and others cannot be put together');
  const columns = new Array<number>(elementsOfShape(shape)).fill(0);
  for (const { operand, extents, from, to } of pieces) {
    if (!('value' in operand)) continue;
    const axes = extents.map((extent, axis) => ({ extent, strides: [from.strides[axis], to.strides[axis]] }));
    for (const [source, target] of placesOf(axes.length === 0 ? [{ extent: 1, strides: [0, 0] }] : axes)) {
      columns[to.start + target] = operand.value.columns?.[from.start + source] ?? 0;
    }
  }
  return columns;
}

/** The whole of an operand in another order: result axis k is its axis order[k]. */
export function transposed(reader: NodeReader, operand: Operand, order: readonly number[]): NodeInput {
  const before = shapeOfOperand(operand);
  const shape = order.map((axis) => before[axis]);
  const old = batchOfOperand(operand);
  const batch = old && { ...old, axis: order.indexOf(old.axis) };
  const wide = order.filter((axis) => before[axis] !== 1);
  if (wide.every((axis, at) => at === 0 || axis > wide[at - 1])) {
    return 'constant' in operand
      ? { constant: { ...operand.constant, dims: shape } }
      : { value: { ...operand.value, shape, batch } };
  }
  const steps = stridesOf(before);
  const from = { start: 0, strides: order.map((axis) => steps[axis]) };
  return assembled(reader, shape, batch, [{ operand, extents: shape, from, to: whole(shape) }]);
}

function whole(shape: readonly number[]): Strided {
  return { start: 0, strides: stridesOf(shape) };
}

const transpose: Translate = (reader) => {
  const operand = reader.operand(0);
  const rank = shapeOfOperand(operand).length;
  const order = reader.integerList('perm') ?? Array.from({ length: rank }, (_, axis) => rank - 1 - axis);
  if (order.length !== rank || [...order].sort((a, b) => a - b).some((axis, at) => axis !== at)) {
    reader.invalid(`perm [${order.join(', ')}] of ${rank} extents`);
  }
  return transposed(reader, operand, order);
};

/** Ends from here on are those of an axis, however long. */
const MOST_QUERIES = 2 ** 31 - 1;

const slice: Translate = (reader) => {
  const input = reader.input(0);
  const [starts, ends] = [reader.numbers(1, 'starts'), reader.numbers(2, 'ends')];
  if (starts === undefined || ends === undefined || starts.length !== ends.length) {
    return reader.invalid('starts and ends must be there, and as many of both');
  }
  const axes = reader.numbers(3, 'axes') ?? starts.map((_, axis) => axis);
  const steps = reader.numbers(4, 'steps') ?? starts.map(() => 1);
  if (axes.length !== starts.length || steps.length !== starts.length)
    reader.invalid('axes and steps must be as many as starts');
  if ('list' in input) return sliceOfList(reader, input.list.extents, starts, ends, steps);
  const before = shapeOfOperand(input);
  const strides = stridesOf(before);
  const extents = [...before];
  const from = { start: 0, strides: [...strides] };
  axes.forEach((given, place) => {
    const axis = reader.axis(given, before.length);
    const { first, step, count } = stepsOf(reader, before[axis], starts[place], ends[place], steps[place]);
    const isBatch = batchOfOperand(input)?.axis === axis;
    // Of the batch all is what reaches its end, which is known where the file says it.
    const isAll = isBatch
      ? starts[place] === 0 && step === 1 && ends[place] >= (reader.fixedBatch ?? MOST_QUERIES)
      : first === 0 && step === 1 && count === before[axis];
    if (isBatch && !isAll) reader.refuseMixing(`a slice of axis ${given}`);
    extents[axis] = count;
    from.start += first * strides[axis];
    from.strides[axis] = step * strides[axis];
  });
  if (extents.includes(0)) {
    if (!('constant' in input))
      reader.invalid(`its result has the shape [${extents.join(', ')}] and no value`);
    return { constant: { ...operandConstant(input), dims: extents, values: new Float64Array(0) } };
  }
  if (extents.every((extent, axis) => extent === before[axis]) && steps.every((step) => step > 0))
    return input;
  return assembled(reader, extents, batchOfOperand(input), [
    { operand: input, extents, from, to: whole(extents) },
  ]);
};

function operandConstant(operand: Operand): { readonly name: string; readonly dataType: number } {
  return { name: '', dataType: typeOfOperand(operand) };
}

/** The places that a slice takes of an axis. */
function stepsOf(
  reader: NodeReader,
  extent: number,
  start: number,
  end: number,
  step: number,
): { first: number; step: number; count: number } {
  if (step === 0) reader.invalid('a step of 0');
  const clamped = (place: number, low: number, high: number): number =>
    Math.min(Math.max(place < 0 ? place + extent : place, low), high);
  const first = step > 0 ? clamped(start, 0, extent) : clamped(start, 0, extent - 1);
  const last = step > 0 ? clamped(end, 0, extent) : clamped(end, -1, extent - 1);
  return { first, step, count: Math.max(0, Math.ceil((last - first) / step)) };
}

function sliceOfList(
  reader: NodeReader,
  extents: readonly Extent[],
  [start]: readonly number[],
  [end]: readonly number[],
  [given]: readonly number[],
): Translation {
  const { first, step, count } = stepsOf(reader, extents.length, start, end, given);
  return listResult({
    extents: Array.from({ length: count }, (_, k) => extents[first + k * step]),
    isScalar: false,
  });
}

/** An extent in a list counts as so many values: shapes are short. */
const EXTENT = 2 ** 16;

const concat: Translate = (reader) => {
  const inputs = Array.from({ length: reader.inputCount }, (_, place) => reader.input(place));
  const given = reader.integer('axis', 1);
  if (inputs.some((input) => 'list' in input)) {
    if (given !== 0 && given !== -1) reader.refuse(`axis ${given} of lists of numbers`);
    const lists = inputs.map((_, place) => listOf(reader, place).extents);
    reader.madeElements([lists.reduce((sum, { length }) => sum + length, 0) * EXTENT]);
    return listResult({
      extents: lists.flat(),
      isScalar: false,
    });
  }
  const operands = reader.operands().filter((operand) => !shapeOfOperand(operand).includes(0));
  if (operands.length === 0) return reader.operand(0);
  reader.commonType(operands);
  return concatenated(reader, operands, given);
};

export function concatenated(reader: NodeReader, operands: readonly Operand[], given: number): NodeInput {
  const [first] = operands.map(shapeOfOperand);
  const axis = reader.axis(given, first.length);
  const batch = operands.map(batchOfOperand).find((one) => one !== undefined);
  if (batch?.axis === axis && operands.length > 1) reader.refuseMixing(`axis ${given}`);
  const shape = [...first];
  shape[axis] = operands.reduce((sum, operand) => sum + shapeOfOperand(operand)[axis], 0);
  const strides = stridesOf(shape);
  let at = 0;
  const pieces = operands.map((operand) => {
    const own = shapeOfOperand(operand);
    const place = batchOfOperand(operand);
    const isSame = own.length === first.length && own.every((extent, k) => k === axis || extent === first[k]);
    if (!isSame) {
      reader.invalid(
        `the shapes ${operands.map((one) => `[${shapeOfOperand(one).join(', ')}]`).join(' and ')} do not go together`,
      );
    }
    // What has no batch repeats itself along it, if it has one place there.
    const fits =
      place === undefined ? batch === undefined || own[batch.axis] === 1 : place.axis === batch?.axis;
    if (!fits) reader.refuseMixing('batches along different axes');
    const to = { start: at * strides[axis], strides };
    at += own[axis];
    return { operand, extents: own, from: whole(own), to };
  });
  return assembled(reader, shape, batch, pieces);
}

const split: Translate = (reader) => {
  const operand = reader.operand(0);
  const before = shapeOfOperand(operand);
  const axis = reader.ownAxis(reader.integer('axis', 0), operand);
  const count = reader.integer('num_outputs', reader.node.outputs.length);
  const each = Math.ceil(before[axis] / count);
  const sizes =
    reader.numbers(1, 'split') ??
    Array.from({ length: count }, (_, k) => Math.max(0, Math.min(each, before[axis] - k * each)));
  if (sizes.reduce((sum, size) => sum + size, 0) !== before[axis]) {
    reader.invalid(`parts of ${sizes.join(', ')} of ${before[axis]} elements`);
  }
  const strides = stridesOf(before);
  let at = 0;
  return sizes.map((size) => {
    const extents = before.map((extent, k) => (k === axis ? size : extent));
    const from = { start: at * strides[axis], strides };
    at += size;
    return assembled(reader, extents, batchOfOperand(operand), [
      { operand, extents, from, to: whole(extents) },
    ]);
  });
};

/** Repeats an operand where an extent of 1 is to be another. */
const expand: Translate = (reader) => {
  const operand = reader.operand(0);
  const { extents } = listOf(reader, 1);
  return expandedTo(
    reader,
    operand,
    extents.map((extent) => (typeof extent === 'number' ? extent : extent.times)),
    extents.findIndex((extent) => typeof extent !== 'number'),
  );
};

/** @param batchAxis that the shape says; below 0: none */
export function expandedTo(
  reader: NodeReader,
  operand: Operand,
  wanted: readonly number[],
  batchAxis = -1,
): NodeInput {
  const own = shapeOfOperand(operand);
  const rank = Math.max(own.length, wanted.length);
  const old = batchOfOperand(operand);
  const batch = old && { ...old, axis: old.axis + rank - own.length };
  const shape = Array.from({ length: rank }, (_, axis) => {
    const [mine, asked] = [own[axis - rank + own.length] ?? 1, wanted[axis - rank + wanted.length] ?? 1];
    if (axis === batch?.axis) {
      if (asked !== 1 && asked !== mine && batchAxis < 0 && asked !== reader.fixedBatch) {
        reader.refuseMixing(`${asked} values along the batch`);
      }
      return mine;
    }
    if (mine !== 1 && asked !== 1 && mine !== asked) {
      reader.invalid(`[${own.join(', ')}] cannot become [${wanted.join(', ')}]`);
    }
    return mine === 1 ? asked : mine;
  });
  if (shape.join() === own.join()) return operand;
  const from = { start: 0, strides: broadcastStrides(own, shape) };
  if (elementsOfShape(shape) === elementsOfShape(own)) {
    return 'constant' in operand
      ? { constant: { ...operand.constant, dims: shape } }
      : { value: { ...operand.value, shape, batch } };
  }
  return assembled(reader, shape, batch, [{ operand, extents: shape, from, to: whole(shape) }]);
}

const tile: Translate = (reader) => {
  const operand = reader.operand(0);
  const own = shapeOfOperand(operand);
  const repeats = Array.from(reader.constant(1).values);
  if (repeats.length !== own.length) reader.invalid(`${repeats.length} repeats of ${own.length} extents`);
  const batch = batchOfOperand(operand);
  if (batch !== undefined && repeats[batch.axis] !== 1) reader.refuseMixing('repeating the batch');
  const strides = stridesOf(own);
  const shape = own.map((extent, axis) => extent * repeats[axis]);
  const steps = stridesOf(shape);
  const extents = own.flatMap((extent, axis) => [repeats[axis], extent]);
  return assembled(reader, shape, batch, [
    {
      operand,
      extents,
      from: { start: 0, strides: strides.flatMap((stride) => [0, stride]) },
      to: { start: 0, strides: steps.flatMap((step, axis) => [step * own[axis], step]) },
    },
  ]);
};

/**
 * Each element from a place of the operand that is known beforehand, or `otherwise` where that is below 0.
 * @param place of a result's element, by its coordinates
 */
export function taken(
  reader: NodeReader,
  operand: Operand,
  shape: readonly number[],
  batch: BatchPlace | undefined,
  place: (at: readonly number[]) => number,
  otherwise = 0,
): NodeInput {
  const elements = elementsOfShape(shape);
  if (elements > 2 ** 26) reader.refuse(`${elements} values are too many`);
  const table = new Int32Array(elements);
  const at = shape.map(() => 0);
  const most = elementsOfShape(shapeOfOperand(operand));
  for (let index = 0; index < elements; index++) {
    const from = place(at);
    if (!(from < most)) reader.invalid(`it takes element ${from} of ${most}; check the places' shape`);
    table[index] = from;
    for (let axis = shape.length - 1; axis >= 0 && ++at[axis] === shape[axis]; axis--) at[axis] = 0;
  }
  const dataType = typeOfOperand(operand);
  if ('constant' in operand) {
    const { constant } = operand;
    const values = Float64Array.from(table, (from) => (from < 0 ? otherwise : constant.values[from]));
    return { constant: { ...constant, dims: shape, values } };
  }
  const { columns } = operand.value;
  if (columns !== undefined)
    return {
      value: { ...operand.value, shape, batch, columns: Array.from(table, (from) => columns[from] ?? 0) },
    };
  return reader.result({ shape, batch, dataType }, [operand], ({ draft, source }) =>
    addTake(draft, source(operand), table, otherwise),
  );
}

const pad: Translate = (reader) => {
  const operand = reader.operand(0);
  const own = shapeOfOperand(operand);
  const pads = reader.numbers(1, 'pads') ?? reader.invalid('pads are missing');
  const axes = (
    reader.optional(3) === undefined ? own.map((_, axis) => axis) : Array.from(reader.constant(3).values)
  ).map((axis) => reader.axis(axis, own.length));
  if (pads.length !== 2 * axes.length) reader.invalid(`${pads.length} pads of ${axes.length} axes`);
  const before = own.map(() => 0);
  const after = own.map(() => 0);
  axes.forEach((axis, k) => {
    before[axis] = pads[k];
    after[axis] = pads[k + axes.length];
  });
  const batch = batchOfOperand(operand);
  if (batch !== undefined && (before[batch.axis] !== 0 || after[batch.axis] !== 0))
    reader.refuseMixing('padding the batch');
  const mode = reader.text('mode', 'constant');
  const otherwise =
    reader.opset < 11
      ? reader.float('value', 0)
      : reader.optional(2) === undefined
        ? 0
        : (reader.constant(2).values[0] ?? 0);
  const shape = own.map((extent, axis) => extent + before[axis] + after[axis]);
  if (shape.some((extent) => extent < 1))
    reader.invalid(`its result has the shape [${shape.join(', ')}] and no value`);
  const strides = stridesOf(own);
  const inside = padPlace(reader, mode);
  return taken(
    reader,
    operand,
    shape,
    batch,
    (at) => {
      let place = 0;
      for (let axis = 0; axis < own.length; axis++) {
        const k = inside(at[axis] - before[axis], own[axis]);
        if (k < 0) return -1;
        place += k * strides[axis];
      }
      return place;
    },
    otherwise,
  );
};

/** The place within an axis that one outside stands for; below 0: none. */
function padPlace(reader: NodeReader, mode: string): (place: number, extent: number) => number {
  switch (mode) {
    case 'constant':
      return (place, extent) => (place >= 0 && place < extent ? place : -1);
    case 'edge':
      return (place, extent) => Math.min(Math.max(place, 0), extent - 1);
    case 'wrap':
      return (place, extent) => ((place % extent) + extent) % extent;
    case 'reflect':
      return (place, extent) => {
        const period = Math.max(1, 2 * (extent - 1));
        const at = ((place % period) + period) % period;
        return at < extent ? at : period - at;
      };
    default:
      return reader.refuse(`mode '${mode}' is not supported, only constant, edge, reflect and wrap`);
  }
}

const gather: Translate = (reader) => {
  const data = reader.input(0);
  const given = reader.integer('axis', 0);
  if ('list' in data) return gatherOfList(reader, data.list.extents, given);
  const operand = data;
  const before = shapeOfOperand(operand);
  const places = reader.operand(1);
  const axis = reader.axis(given, before.length);
  if (batchOfOperand(operand)?.axis === axis) {
    const isAll =
      'constant' in places && before[axis] === 1 && places.constant.values.every((value) => value === 0);
    // The first of a batch that the file fixes at 1.
    if (!isAll || reader.fixedBatch !== 1) reader.refuseMixing(`axis ${given} of ${before.length}`);
  }
  return gatherAlong(reader, operand, axis, places);
};

export function gatherAlong(reader: NodeReader, operand: Operand, axis: number, places: Operand): NodeInput {
  const before = shapeOfOperand(operand);
  const chosen = shapeOfOperand(places);
  const [outer, inner] = [before.slice(0, axis), before.slice(axis + 1)];
  const shape = [...outer, ...chosen, ...inner];
  const strides = stridesOf(before);
  const old = batchOfOperand(operand);
  const own = batchOfOperand(places);
  if ('constant' in places) {
    const batch = old && { ...old, axis: old.axis < axis ? old.axis : old.axis + chosen.length - 1 };
    const list = Array.from(places.constant.values, (value) => reader.axis(value, before[axis]));
    const steps = stridesOf(chosen);
    return taken(reader, operand, shape, batch, (at) => {
      const place = chosen.reduce((sum, _, k) => sum + at[axis + k] * steps[k], 0);
      let from = list[place] * strides[axis];
      outer.forEach((_, k) => (from += at[k] * strides[k]));
      inner.forEach((_, k) => (from += at[axis + chosen.length + k] * strides[axis + 1 + k]));
      return from;
    });
  }
  if (old !== undefined && own !== undefined)
    reader.refuseMixing('looking up values of one query at places of others');
  const batch = own
    ? { ...own, axis: own.axis + axis }
    : old && { ...old, axis: old.axis < axis ? old.axis : old.axis + chosen.length - 1 };
  const steps = stridesOf(chosen);
  const axes = [
    ...outer.map((extent, k) => ({ extent, strides: [strides[k], 0] })),
    ...chosen.map((extent, k) => ({ extent, strides: [0, steps[k]] })),
    ...inner.map((extent, k) => ({ extent, strides: [strides[axis + 1 + k], 0] })),
  ];
  const dataType = typeOfOperand(operand);
  return reader.result({ shape, batch, dataType }, [operand, places], ({ draft, source }) =>
    addLookUp(
      draft,
      source(operand, elementOfType(dataType)),
      source(places, 'f64'),
      axes,
      before[axis],
      strides[axis],
    ),
  );
}

function gatherOfList(reader: NodeReader, list: readonly Extent[], axis: number): Translation {
  if (axis > 0) reader.refuse('only axis 0 of a list of numbers is supported');
  const { dims, values } = reader.constant(1);
  if (dims.length > 1)
    reader.refuse(`indices of the shape [${dims.join(', ')}], only one extent is supported`);
  const extents = Array.from(
    values,
    (given) => list.at(given) ?? reader.invalid(`index ${given} of ${list.length} numbers`),
  );
  return listResult({ extents, isScalar: dims.length === 0 });
}

const gatherElements: Translate = (reader) => {
  const [operand, places] = [reader.operand(0), reader.operand(1)];
  const before = shapeOfOperand(operand);
  const shape = shapeOfOperand(places);
  const axis = reader.ownAxis(reader.integer('axis', 0), operand);
  if (shape.length !== before.length) reader.invalid(`places of ${shape.length} extents in ${before.length}`);
  const batch = batchOfOperand(operand) ?? batchOfOperand(places);
  if (
    batchOfOperand(operand)?.axis !== batchOfOperand(places)?.axis &&
    'value' in operand &&
    'value' in places
  ) {
    reader.refuseMixing('batches along different axes');
  }
  if (batch?.axis === axis) reader.refuseMixing(`axis ${axis}`);
  // What has no batch has a row for each query of one, or the same row for all.
  const rows = batch && [before, shape].map((extents) => extents[batch.axis]).find((extent) => extent !== 1);
  if (rows !== undefined) reader.refuseMixing(`${rows} rows along the batch`);
  const strides = stridesOf(before);
  if ('constant' in places) {
    const steps = stridesOf(shape);
    return taken(reader, operand, shape, batch, (at) => {
      const chosen = reader.axis(
        places.constant.values[at.reduce((sum, k, one) => sum + k * steps[one], 0)],
        before[axis],
      );
      return at.reduce((sum, k, one) => sum + (one === axis ? chosen : k) * strides[one], 0);
    });
  }
  const steps = stridesOf(shape);
  const axes = shape.map((extent, k) => ({ extent, strides: [k === axis ? 0 : strides[k], steps[k]] }));
  const dataType = typeOfOperand(operand);
  return reader.result({ shape, batch, dataType }, [operand, places], ({ draft, source }) =>
    addLookUp(
      draft,
      source(operand, elementOfType(dataType)),
      source(places, 'f64'),
      axes,
      before[axis],
      strides[axis],
    ),
  );
};

/** Blocks of pixels become channels, and the other way round: transposed in between. */
const depthToSpace: Translate = (reader) => {
  const operand = reader.operand(0);
  const [batch, channels, height, width] = imageShape(reader, operand);
  const size = reader.integer('blocksize', 0);
  const deep = channels / (size * size);
  if (!Number.isInteger(deep)) reader.invalid(`${channels} channels in blocks of ${size}`);
  const byRows = reader.text('mode', 'DCR') === 'DCR';
  const parts = byRows ? [batch, size, size, deep, height, width] : [batch, deep, size, size, height, width];
  const order = byRows ? [0, 3, 4, 1, 5, 2] : [0, 1, 4, 2, 5, 3];
  return rearranged(reader, operand, parts, order, [batch, deep, height * size, width * size]);
};

const spaceToDepth: Translate = (reader) => {
  const operand = reader.operand(0);
  const [batch, channels, height, width] = imageShape(reader, operand);
  const size = reader.integer('blocksize', 0);
  if (height % size !== 0 || width % size !== 0)
    reader.invalid(`${height} x ${width} pixels in blocks of ${size}`);
  const parts = [batch, channels, height / size, size, width / size, size];
  const shape = [batch, channels * size * size, height / size, width / size];
  return rearranged(reader, operand, parts, [0, 3, 5, 1, 2, 4], shape);
};

/** Reshaped, transposed and reshaped again, the batch staying the first extent. */
function rearranged(
  reader: NodeReader,
  operand: Operand,
  parts: readonly number[],
  order: readonly number[],
  shape: readonly number[],
): NodeInput {
  const steps = stridesOf(parts);
  const extents = order.map((axis) => parts[axis]);
  const from = { start: 0, strides: order.map((axis) => steps[axis]) };
  return assembled(reader, shape, batchOfOperand(operand), [
    { operand, extents, from, to: { start: 0, strides: stridesOf(extents) } },
  ]);
}

function imageShape(reader: NodeReader, operand: Operand): readonly number[] {
  const shape = shapeOfOperand(operand);
  const axis = batchOfOperand(operand)?.axis ?? 0;
  return shape.length === 4 && axis === 0
    ? shape
    : reader.refuse(
        `values of the shape [${shape.join(', ')}], only [batch, channels, height, width] is supported`,
      );
}

/** The triangle above or below a diagonal, the rest 0. */
const trilu: Translate = (reader) => {
  const operand = reader.operand(0);
  const shape = shapeOfOperand(operand);
  if (shape.length < 2) reader.invalid(`the shape [${shape.join(', ')}] is no matrix`);
  const [rows, columns] = [shape.length - 2, shape.length - 1];
  const batch = batchOfOperand(operand);
  if (batch !== undefined && batch.axis >= rows) reader.refuseMixing(`axis ${batch.axis}`);
  const shift = reader.optional(1) === undefined ? 0 : reader.constant(1).values[0];
  const isUpper = reader.integer('upper', 1) === 1;
  const strides = stridesOf(shape);
  return taken(reader, operand, shape, batch, (at) => {
    const beyond = at[columns] - at[rows] - shift;
    return (isUpper ? beyond >= 0 : beyond <= 0)
      ? at.reduce((sum, k, axis) => sum + k * strides[axis], 0)
      : -1;
  });
};

/** Elements where a constant says so. */
const compress: Translate = (reader) => {
  const condition = Array.from(reader.constant(1).values);
  const chosen = condition.flatMap((is, place) => (is === 0 ? [] : [place]));
  const given = reader.node.attributes.get('axis')?.integer;
  const places: Operand = {
    constant: { name: '', dims: [chosen.length], dataType: INT64, values: Float64Array.from(chosen) },
  };
  const operand = reader.operand(0);
  if (given !== undefined) return gatherAlong(reader, operand, reader.ownAxis(given, operand), places);
  if (batchOfOperand(operand) !== undefined) reader.refuseMixing('choosing among all elements');
  const flat = operandOf(reader, single(reshaped(reader, operand, [-1])));
  return gatherAlong(reader, flat, 0, places);
};

function single(translation: Translation): NodeInput {
  return 'length' in translation ? translation[0] : translation;
}

const oneHot: Translate = (reader) => {
  const places = castTo(reader, reader.operand(0), INT64);
  const depth = reader.constant(1).values[0];
  if (!(depth >= 1 && depth <= 2 ** 24)) reader.invalid(`a depth of ${depth}`);
  const given = reader.operand(2);
  const dataType = typeOfOperand(given);
  const values = castTo(reader, given, 11);
  const own = shapeOfOperand(places);
  const axis = reader.axis(reader.integer('axis', -1), own.length + 1);
  const shape = [...own.slice(0, axis), depth, ...own.slice(axis)];
  const steps = stridesOf(own);
  const axes = shape.map((extent, k) => ({
    extent,
    strides: [k === axis ? 0 : steps[k < axis ? k : k - 1], k === axis ? 1 : 0, 0],
  }));
  const old = batchOfOperand(places);
  const batch = old && { ...old, axis: old.axis < axis ? old.axis : old.axis + 1 };
  const result = reader.result({ shape, batch, dataType: 11 }, [places, values], ({ draft, source }) =>
    addOneHot(draft, source(places, 'f64'), source(values, 'f64'), axes, depth),
  );
  return castTo(reader, operandOf(reader, result), dataType);
};

export const MOVEMENT: OperatorTable = {
  Transpose: { translate: transpose },
  Slice: { translate: slice, limits: 'not of the batch; bounds constant' },
  Concat: { translate: concat, limits: 'not along the batch' },
  Split: { translate: split, limits: 'not along the batch; sizes constant' },
  Expand: { translate: expand, limits: 'to a constant shape, or one that keeps the batch' },
  Tile: { translate: tile, limits: 'not the batch; repeats constant' },
  Pad: { translate: pad, limits: 'not the batch; constant pads; modes constant, edge, reflect, wrap' },
  Gather: { translate: gather, limits: 'not along the batch' },
  GatherElements: { translate: gatherElements, limits: 'not along the batch' },
  DepthToSpace: { translate: depthToSpace },
  SpaceToDepth: { translate: spaceToDepth },
  Trilu: { translate: trilu, limits: 'k constant' },
  Compress: { translate: compress, limits: 'by a constant condition' },
  OneHot: { translate: oneHot, limits: 'depth constant' },
};
