import { broadcastStrides, placesOf, type StridedAxis } from '../geometry.js';
import {
  batchOfOperand,
  elementsOfShape,
  shapeOfOperand,
  type BatchPlace,
  type Operand,
} from './graphValues.js';
import type { NodeReader } from './nodeReader.js';
import type { OnnxTensor } from './onnxModel.js';

/** The shape that operands have together by ONNX's rules, and where the batch lies in it. */
export interface BroadcastShape {
  readonly shape: readonly number[];
  readonly batch: BatchPlace | undefined;
  /** Each axis with a step for each operand. */
  readonly axes: readonly StridedAxis[];
}

export function broadcastOf(reader: NodeReader, operands: readonly Operand[]): BroadcastShape {
  const shapes = operands.map(shapeOfOperand);
  const rank = Math.max(...shapes.map(({ length }) => length));
  const shape = Array.from({ length: rank }, (_, axis) => {
    const extents = shapes.map((own) => own[axis - rank + own.length] ?? 1).filter((extent) => extent !== 1);
    const [extent = 1] = extents;
    return extents.every((other) => other === extent)
      ? extent
      : reader.invalid(
          `the shapes ${shapes.map((own) => `[${own.join(', ')}]`).join(' and ')} do not go together`,
        );
  });
  const batch = commonBatch(reader, operands, shapes, rank);
  const strides = shapes.map((own) => broadcastStrides(own, shape));
  return {
    shape,
    batch,
    axes: shape.map((extent, axis) => ({ extent, strides: strides.map((steps) => steps[axis]) })),
  };
}

/** Batches must lie along the same axis, where whatever has none may only repeat itself. */
function commonBatch(
  reader: NodeReader,
  operands: readonly Operand[],
  shapes: readonly (readonly number[])[],
  rank: number,
): BatchPlace | undefined {
  let found: BatchPlace | undefined;
  operands.forEach((operand, place) => {
    const batch = batchOfOperand(operand);
    if (batch === undefined) return;
    const axis = batch.axis + rank - shapes[place].length;
    if (found !== undefined && (found.axis !== axis || found.before !== batch.before))
      reader.refuseMixing('batches along different axes');
    found = { axis, before: batch.before };
  });
  if (found === undefined) return undefined;
  const { axis } = found;
  operands.forEach((operand, place) => {
    if (batchOfOperand(operand) !== undefined) return;
    const extent = shapes[place][axis - rank + shapes[place].length] ?? 1;
    if (extent !== 1) reader.refuseMixing(`${extent} values along the batch`);
  });
  return found;
}

/** A constant as it is where it is broadcast to `shape`. */
export function expanded({ dims, values }: OnnxTensor, shape: readonly number[]): Float64Array {
  const result = new Float64Array(elementsOfShape(shape));
  if (values.length === 1) return result.fill(values[0]);
  if (dims.length === shape.length && dims.every((extent, axis) => extent === shape[axis])) return values;
  const steps = broadcastStrides(dims, shape);
  let at = 0;
  for (const [place] of placesOf(shape.map((extent, axis) => ({ extent, strides: [steps[axis]] })))) {
    result[at++] = values[place];
  }
  if (shape.length === 0) result[0] = values[0];
  return result;
}

/** One value for each place along an axis of `shape`, where a constant has no others. */
export function along(
  { dims, values }: OnnxTensor,
  shape: readonly number[],
  axis: number,
): Float64Array | undefined {
  const own = dims.map((extent, at) => ({ extent, axis: at + shape.length - dims.length }));
  if (own.every(({ extent, axis: at }) => extent === 1 || at === axis)) {
    return values.length === shape[axis] ? values : new Float64Array(shape[axis]).fill(values[0]);
  }
  if (own.some(({ axis: at }) => at < 0)) return undefined;
  const inner = elementsOfShape(shape.slice(axis + 1));
  const all = expanded({ name: '', dims, dataType: 0, values }, shape);
  const first = Float64Array.from({ length: shape[axis] }, (_, k) => all[k * inner]);
  return all.every((value, place) => value === first[Math.floor(place / inner) % shape[axis]])
    ? first
    : undefined;
}
