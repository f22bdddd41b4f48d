import { geometryOf, innerGeometryOf, type StridedAxis } from '../geometry.js';
import type { ManifestArgument } from '../../manifest.js';
import { pointerTo, type ModelDraft, type Tensor } from '../modelDraft.js';
import { elementCount, tableOf, type Source } from './sources.js';
import { rowsOf } from './stridedLayers.js';

/** What is accumulated, and what becomes of the total: as `reduce` in reductions.cu has them. */
export const REDUCTIONS = {
  sum: { op: 0, finish: 0 },
  mean: { op: 0, finish: 1 },
  largest: { op: 1, finish: 0 },
  smallest: { op: 2, finish: 0 },
  product: { op: 3, finish: 0 },
  sumOfSquares: { op: 4, finish: 0 },
  l1: { op: 5, finish: 0 },
  l2: { op: 4, finish: 2 },
  logSum: { op: 0, finish: 3 },
  logSumExp: { op: 6, finish: 4 },
} as const;
export type Reduction = keyof typeof REDUCTIONS;

const INSTRUCTIONS: Readonly<Record<number, number>> = { 6: 130 };

/** @param kept axes of the results, @param reduced axes that are added up; strides of both: x */
export function addReduction(
  draft: ModelDraft,
  x: Source,
  kind: Reduction,
  kept: readonly StridedAxis[],
  reduced: readonly StridedAxis[],
): Tensor {
  const { op, finish } = REDUCTIONS[kind];
  const width = product(kept);
  const terms = product(reduced);
  const y = draft.tensor(draft.layerName(kind), x.element, width);
  draft.launchElements({
    module: 'reductions',
    kernel: `reduce_${x.element}`,
    width,
    instructionsEach: 300 + 30 * kept.length + terms * ((INSTRUCTIONS[op] ?? 50) + 30 * reduced.length),
    arguments: [
      x.pointer,
      pointerTo(y),
      tableOf(draft, 'geometry', geometryOf([x.stride], kept)),
      tableOf(draft, 'geometry', innerGeometryOf(1, reduced)),
      elementCount(width),
      { i32: terms },
      { i32: op },
      { i32: finish },
      { f64: 1 / terms },
    ],
  });
  return y;
}

/** An axis of `extent` elements that are `inner` apart, in values of `width` an item. */
export interface Along {
  readonly width: number;
  readonly extent: number;
  readonly inner: number;
}

/** A launch with a thread for each line along an axis. @param more arguments behind the axis's */
function launchAlong(
  draft: ModelDraft,
  kernel: string,
  x: Source,
  outputs: readonly Tensor[],
  { width, extent, inner }: Along,
  instructionsEach: number,
  more: readonly ManifestArgument[],
): void {
  draft.launchElements({
    module: 'reductions',
    kernel: `${kernel}_${x.element}`,
    width: width / extent,
    instructionsEach,
    arguments: [
      rowsOf(draft, x, width),
      ...outputs.map(pointerTo),
      elementCount(width / extent),
      { i32: extent },
      { i32: inner },
      ...more,
    ],
  });
}

export function addArgument(draft: ModelDraft, x: Source, along: Along, sign: 1 | -1, last: boolean): Tensor {
  const { width, extent } = along;
  const y = draft.tensor(draft.layerName('argument'), 'f64', width / extent);
  launchAlong(draft, 'arg', x, [y], along, 80 + 14 * extent, [{ f64: sign }, { i32: last ? 1 : 0 }]);
  return y;
}

export const SOFTMAX_KINDS = { softmax: 0, logSoftmax: 1, hardmax: 2 } as const;
export type SoftmaxKind = keyof typeof SOFTMAX_KINDS;

export function addSoftmaxAlong(draft: ModelDraft, x: Source, along: Along, kind: SoftmaxKind): Tensor {
  const y = draft.tensor(draft.layerName(kind), x.element, along.width);
  const more = [{ i32: SOFTMAX_KINDS[kind] }];
  launchAlong(draft, 'softmax_along', x, [y], along, 200 + 180 * along.extent, more);
  return y;
}

export function addSumsSoFar(
  draft: ModelDraft,
  x: Source,
  along: Along,
  exclusive: boolean,
  reverse: boolean,
): Tensor {
  const y = draft.tensor(draft.layerName('sumsSoFar'), x.element, along.width);
  const more = [{ i32: exclusive ? 1 : 0 }, { i32: reverse ? 1 : 0 }];
  launchAlong(draft, 'sums_so_far', x, [y], along, 80 + 20 * along.extent, more);
  return y;
}

/** The `chosen` largest or smallest along an axis, in order. @returns values and their places */
export function addBest(
  draft: ModelDraft,
  x: Source,
  along: Along,
  chosen: number,
  sign: 1 | -1,
): [Tensor, Tensor] {
  const { width, extent } = along;
  const found = (width / extent) * chosen;
  const y = draft.tensor(draft.layerName('best'), x.element, found);
  const places = draft.tensor(draft.layerName('bestPlaces'), 'f64', found);
  const instructionsEach = 80 + chosen * (40 + 24 * extent);
  launchAlong(draft, 'best', x, [y, places], along, instructionsEach, [{ i32: chosen }, { f64: sign }]);
  return [y, places];
}

export interface RowStandard {
  /** Elements of a row, and rows of an item. */
  readonly width: number;
  readonly rows: number;
  /** Scale and offset of element k of an item: at k / inner % period. */
  readonly inner: number;
  readonly period: number;
  readonly epsilon: number;
}

/** Rows to a mean of 0 and a variance of 1, then scaled. @returns values, means, 1 over the standard deviations */
export function addStandardizedRows(
  draft: ModelDraft,
  x: Source,
  scale: Source,
  offset: Source,
  { width, rows, inner, period, epsilon }: RowStandard,
): [Tensor, Tensor, Tensor] {
  const y = draft.tensor(draft.layerName('standardized'), x.element, width * rows);
  const means = draft.tensor(draft.layerName('means'), x.element, rows);
  const deviations = draft.tensor(draft.layerName('deviations'), x.element, rows);
  draft.launchElements({
    module: 'reductions',
    kernel: `standardize_rows_${x.element}`,
    width: rows,
    instructionsEach: 300 + 90 * width,
    arguments: [
      rowsOf(draft, x, width * rows),
      scale.pointer,
      offset.pointer,
      ...[y, means, deviations].map(pointerTo),
      elementCount(rows),
      ...[width, rows, inner, period, scale.stride, offset.stride].map((i32) => ({ i32 })),
      { f64: epsilon },
    ],
  });
  return [y, means, deviations];
}

export function addLocalResponse(
  draft: ModelDraft,
  x: Source,
  shape: { readonly width: number; readonly channels: number; readonly inner: number },
  { size, alpha, beta, bias }: Readonly<Record<'size' | 'alpha' | 'beta' | 'bias', number>>,
): Tensor {
  const y = draft.tensor(draft.layerName('localResponse'), 'f32', shape.width);
  draft.launchElements({
    module: 'reductions',
    kernel: 'local_response_f32',
    width: shape.width,
    instructionsEach: 500 + 20 * size,
    arguments: [
      rowsOf(draft, x, shape.width),
      pointerTo(y),
      elementCount(shape.width),
      { i32: shape.channels },
      { i32: shape.inner },
      { i32: size },
      { f64: alpha },
      { f64: beta },
      { f64: bias },
    ],
  });
  return y;
}

function product(axes: readonly StridedAxis[]): number {
  return axes.reduce((all, { extent }) => all * extent, 1);
}
