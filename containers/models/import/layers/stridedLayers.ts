import { geometryOf, type StridedAxis } from '../geometry.js';
import { pointerTo, type ModelDraft, type Tensor } from '../modelDraft.js';
import { elementCount, signed, tableOf, type RealElement, type Source } from './sources.js';

/** Functions of two values, in the order of `joined` in strided.cu. */
export const PAIR_OPS = [
  'add',
  'subtract',
  'multiply',
  'divide',
  'divideWhole',
  'power',
  'modulo',
  'remainder',
  'largest',
  'smallest',
  'parametricRelu',
  'equal',
  'less',
  'lessOrEqual',
  'greater',
  'greaterOrEqual',
  'and',
  'or',
  'exclusiveOr',
] as const;
export type PairOp = (typeof PAIR_OPS)[number];

/** The places of a strided array's elements within an item. */
export interface Strided {
  readonly start: number;
  readonly strides: readonly number[];
}

/**
 * Copies into `y`, which may hold more than this writes.
 * @param x an input or a source; its element may be another than y's
 */
export function addCopyInto(
  draft: ModelDraft,
  x: { readonly pointer: Source['pointer']; readonly stride: number; readonly element: Tensor['element'] },
  y: Tensor,
  extents: readonly number[],
  from: Strided,
  to: Strided,
): void {
  const axes = extents.map((extent, axis) => ({ extent, strides: [from.strides[axis], to.strides[axis]] }));
  const width = extents.reduce((product, extent) => product * extent, 1);
  draft.launchElements({
    module: 'strided',
    kernel: `copy_${x.element}_${y.element}`,
    width,
    instructionsEach: 60 + 25 * extents.length,
    arguments: [
      x.pointer,
      pointerTo(y),
      tableOf(draft, 'geometry', geometryOf([x.stride, y.width], axes)),
      elementCount(width),
      signed(from.start),
      signed(to.start),
    ],
  });
}

/** y[i] = x[table[i]] of each item, or `otherwise` where the table is below 0. */
export function addTake(draft: ModelDraft, x: Source, table: Int32Array, otherwise: number): Tensor {
  const y = draft.tensor(draft.layerName('taken'), x.element, table.length);
  draft.launchElements({
    module: 'strided',
    kernel: `take_${x.element}`,
    width: table.length,
    instructionsEach: 60,
    arguments: [
      x.pointer,
      tableOf(draft, 'places', table),
      pointerTo(y),
      elementCount(table.length),
      { i32: table.length },
      { i32: x.stride },
      x.element === 'f32' ? { f32: otherwise } : { f64: otherwise },
    ],
  });
  return y;
}

/** A function of two values each. Comparisons of doubles give f32 where `isCondition`. */
export function addPair(
  draft: ModelDraft,
  op: PairOp,
  a: Source,
  b: Source,
  axes: readonly StridedAxis[],
  isCondition: boolean,
): Tensor {
  const width = axes.reduce((product, { extent }) => product * extent, 1);
  const y = draft.tensor(draft.layerName(op), isCondition ? 'f32' : a.element, width);
  draft.launchElements({
    module: 'strided',
    kernel: isCondition && a.element === 'f64' ? 'compare_f64' : `pair_${a.element}`,
    width,
    instructionsEach: (op === 'power' ? 400 : 110) + 30 * axes.length,
    arguments: [
      a.pointer,
      b.pointer,
      pointerTo(y),
      tableOf(draft, 'geometry', geometryOf([a.stride, b.stride], axes)),
      elementCount(width),
      { i32: PAIR_OPS.indexOf(op) },
    ],
  });
  return y;
}

/** a where the condition is not 0, otherwise b. Strides of the axes: condition, a, b. */
export function addChoose(
  draft: ModelDraft,
  condition: Source,
  a: Source,
  b: Source,
  axes: readonly StridedAxis[],
): Tensor {
  const width = axes.reduce((product, { extent }) => product * extent, 1);
  const y = draft.tensor(draft.layerName('chosen'), a.element, width);
  draft.launchElements({
    module: 'strided',
    kernel: `choose_${a.element}`,
    width,
    instructionsEach: 70 + 35 * axes.length,
    arguments: [
      condition.pointer,
      a.pointer,
      b.pointer,
      pointerTo(y),
      tableOf(draft, 'geometry', geometryOf([condition.stride, a.stride, b.stride], axes)),
      elementCount(width),
    ],
  });
  return y;
}

/**
 * Elements of x at places that are values themselves, along an axis of `extent` elements, `step` apart.
 * Strides of the axes: x (0 along what the places choose), places.
 */
export function addLookUp(
  draft: ModelDraft,
  x: Source,
  places: Source,
  axes: readonly StridedAxis[],
  extent: number,
  step: number,
): Tensor {
  const width = axes.reduce((product, axis) => product * axis.extent, 1);
  const y = draft.tensor(draft.layerName('lookedUp'), x.element, width);
  draft.launchElements({
    module: 'strided',
    kernel: `look_up_${x.element}`,
    width,
    instructionsEach: 80 + 30 * axes.length,
    arguments: [
      x.pointer,
      places.pointer,
      pointerTo(y),
      tableOf(draft, 'geometry', geometryOf([x.stride, places.stride], axes)),
      elementCount(width),
      { i32: extent },
      { i32: step },
    ],
  });
  return y;
}

/** values[1] at the place that `places` say, otherwise values[0]. Strides of the axes: places, the new axis (1), values (0). */
export function addOneHot(
  draft: ModelDraft,
  places: Source,
  values: Source,
  axes: readonly StridedAxis[],
  depth: number,
): Tensor {
  const width = axes.reduce((product, { extent }) => product * extent, 1);
  const y = draft.tensor(draft.layerName('oneHot'), 'f64', width);
  draft.launchElements({
    module: 'strided',
    kernel: 'one_hot_f64',
    width,
    instructionsEach: 80 + 35 * axes.length,
    arguments: [
      places.pointer,
      values.pointer,
      pointerTo(y),
      tableOf(draft, 'geometry', geometryOf([places.stride, 0, values.stride], axes)),
      elementCount(width),
      { i32: depth },
    ],
  });
  return y;
}

/** The same values in another element type. */
export function addConversion(
  draft: ModelDraft,
  x: { readonly pointer: Source['pointer']; readonly stride: number; readonly element: Tensor['element'] },
  width: number,
  element: RealElement | 'i32',
): Tensor {
  const y = draft.tensor(draft.layerName('converted'), element, width);
  const row = { start: 0, strides: [1] };
  addCopyInto(draft, x, y, [width], row, row);
  return y;
}

/** The values for kernels that take an item's behind those of the item before: what is the same for all is copied for each. */
export function rowsOf(draft: ModelDraft, x: Source, width: number): Source['pointer'] {
  return x.stride === 0 ? pointerTo(addConversion(draft, x, width, x.element)) : x.pointer;
}
