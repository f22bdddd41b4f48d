import { stridesOf } from '../../geometry.js';
import {
  batchOfOperand,
  elementsOfShape,
  shapeOfOperand,
  typeOfOperand,
  type NodeInput,
  type Operand,
} from '../graphValues.js';
import type { NodeReader } from '../nodeReader.js';
import type { OperatorTable, Translate } from '../translation.js';
import { castTo, operandOf } from './elementwise.js';
import { concatenated, taken } from './movement.js';
import { reshapedTo } from './shapes.js';

/* Elements at places that are known beforehand: of several axes at once, and the other way round. */

/** Whole numbers of an input, and its shape. */
function placesAt(
  reader: NodeReader,
  place: number,
): { readonly dims: readonly number[]; readonly values: Float64Array } {
  const { dims, values } = reader.constant(place);
  return { dims, values };
}

/** Places that are said of every axis name single queries of a batch, unless the file says that there is one. */
function refuseQueries(reader: NodeReader, ...operands: readonly Operand[]): void {
  const batch = operands.map(batchOfOperand).find((one) => one !== undefined);
  if (batch === undefined || (batch.axis === 0 && batch.before === 1 && reader.fixedBatch === 1)) return;
  reader.refuseMixing('elements of single queries');
}

/** Places of an axis, of which the batch has the first alone. */
function placeOn(reader: NodeReader, operand: Operand, axis: number, given: number): number {
  const extent = shapeOfOperand(operand)[axis];
  const place = given < 0 ? given + extent : given;
  if (!(place >= 0 && place < extent)) {
    if (batchOfOperand(operand)?.axis === axis) reader.refuseMixing(`place ${given} of axis ${axis}`);
    reader.invalid(`place ${given} of ${extent} along axis ${axis}`);
  }
  return place;
}

const gatherND: Translate = (reader) => {
  const operand = reader.operand(0);
  const before = shapeOfOperand(operand);
  const { dims, values } = placesAt(reader, 1);
  const shared = reader.integer('batch_dims', 0);
  const depth = dims[dims.length - 1] ?? 0;
  const outer = dims.slice(0, -1);
  if (depth < 1 || shared + depth > before.length)
    reader.invalid(`places of ${depth} axes in ${before.length} extents`);
  refuseQueries(reader, operand);
  const batch = batchOfOperand(operand);
  if (batch !== undefined && outer[0] !== 1) reader.refuseMixing(`places [${dims.join(', ')}]`);
  if (outer.slice(0, shared).some((extent, axis) => extent !== before[axis]))
    reader.invalid(`places [${dims.join(', ')}] of [${before.join(', ')}] with batch_dims ${shared}`);
  const inner = before.slice(shared + depth);
  const shape = [...outer, ...inner];
  const steps = stridesOf(dims);
  const strides = stridesOf(before);
  return taken(reader, operand, shape, batch, (at) => {
    const start = outer.reduce((sum, _, axis) => sum + at[axis] * steps[axis], 0);
    let from = 0;
    for (let axis = 0; axis < shared; axis++) from += at[axis] * strides[axis];
    for (let k = 0; k < depth; k++)
      from += placeOn(reader, operand, shared + k, values[start + k]) * strides[shared + k];
    inner.forEach((_, k) => (from += at[outer.length + k] * strides[shared + depth + k]));
    return from;
  });
};

/**
 * Data with updates in some places.
 * @param put calls `set` with a place of data for each element of updates, in order; the last of several stays
 */
function updated(
  reader: NodeReader,
  put: (data: Operand, set: (place: number, update: number) => void) => void,
): NodeInput {
  const reduction = reader.text('reduction', 'none');
  if (reduction !== 'none') reader.refuse(`reduction '${reduction}' is not supported, only none`);
  const data = reader.operand(0);
  const updates = castTo(reader, reader.operand(2), typeOfOperand(data));
  refuseQueries(reader, data, updates);
  const shape = shapeOfOperand(data);
  const [elements, more] = [elementsOfShape(shape), elementsOfShape(shapeOfOperand(updates))];
  const table = Int32Array.from({ length: elements }, (_, place) => place);
  put(data, (place, update) => (table[place] = elements + update));
  const batch = batchOfOperand(data) ?? batchOfOperand(updates);
  const flat = (operand: Operand, width: number): Operand => reshapedTo(reader, operand, [1, width]);
  const all = operandOf(reader, concatenated(reader, [flat(data, elements), flat(updates, more)], 1));
  const strides = stridesOf(shape);
  return taken(
    reader,
    all,
    shape,
    batch,
    (at) => table[at.reduce((sum, k, axis) => sum + k * strides[axis], 0)],
  );
}

const scatterElements: Translate = (reader) =>
  updated(reader, (data, set) => {
    const { dims, values } = placesAt(reader, 1);
    const shape = shapeOfOperand(data);
    const axis = reader.axis(reader.integer('axis', 0), shape.length);
    if (dims.length !== shape.length) reader.invalid(`places of ${dims.length} extents in ${shape.length}`);
    if (dims.some((extent, k) => k !== axis && extent > shape[k]))
      reader.invalid(`places [${dims.join(', ')}] of [${shape.join(', ')}]`);
    const steps = stridesOf(dims);
    const strides = stridesOf(shape);
    values.forEach((given, update) => {
      let place = 0;
      dims.forEach((extent, k) => {
        const own = Math.floor(update / steps[k]) % extent;
        place += (k === axis ? placeOn(reader, data, axis, given) : own) * strides[k];
      });
      set(place, update);
    });
  });

const scatterND: Translate = (reader) =>
  updated(reader, (data, set) => {
    const { dims, values } = placesAt(reader, 1);
    const shape = shapeOfOperand(data);
    const depth = dims[dims.length - 1] ?? 0;
    if (depth < 1 || depth > shape.length)
      reader.invalid(`places of ${depth} axes in ${shape.length} extents`);
    const strides = stridesOf(shape);
    const inner = elementsOfShape(shape.slice(depth));
    for (let update = 0; update < values.length / depth; update++) {
      let place = 0;
      for (let k = 0; k < depth; k++)
        place += placeOn(reader, data, k, values[update * depth + k]) * strides[k];
      for (let k = 0; k < inner; k++) set(place + k, update * inner + k);
    }
  });

const LIMITS = 'places constant, of a single query or without a batch; reduction none';

export const SCATTERS: OperatorTable = {
  GatherND: { translate: gatherND, limits: 'places constant, of a single query or without a batch' },
  Scatter: { translate: scatterElements, limits: LIMITS },
  ScatterElements: { translate: scatterElements, limits: LIMITS },
  ScatterND: { translate: scatterND, limits: LIMITS },
};
