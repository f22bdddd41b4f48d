/** One axis of strided arrays that are gone through together: its extent, and each array's step along it. */
export interface StridedAxis {
  readonly extent: number;
  readonly strides: readonly number[];
}

/** Steps between neighbours along each axis of an array that lies row by row. */
export function stridesOf(shape: readonly number[]): number[] {
  const strides = new Array<number>(shape.length);
  let step = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

/** Steps through an array that is broadcast to `shape`: 0 along what it repeats. */
export function broadcastStrides(own: readonly number[], shape: readonly number[]): number[] {
  const strides = stridesOf(own);
  const shift = shape.length - own.length;
  return shape.map((_, axis) => (axis < shift || own[axis - shift] === 1 ? 0 : strides[axis - shift]));
}

/**
 * The table that geometry.cuh reads: axes that lie behind one another in every array are one, and those of extent 1 go.
 * @param batch each array's step from item to item
 */
export function geometryOf(batch: readonly number[], axes: readonly StridedAxis[]): Int32Array {
  const merged: { extent: number; strides: readonly number[] }[] = [{ extent: 0, strides: batch }];
  for (const { extent, strides } of axes) {
    if (extent === 1) continue;
    const last = merged[merged.length - 1];
    if (last.strides.every((stride, k) => stride === strides[k] * extent)) {
      merged[merged.length - 1] = { extent: last.extent * extent, strides };
    } else merged.push({ extent, strides });
  }
  return Int32Array.from([
    merged.length,
    ...merged.flatMap(({ extent, strides }) => [Math.max(1, extent), ...strides]),
  ]);
}

/** The same without a batch: the first axis is one of extent 1. */
export function innerGeometryOf(arrays: number, axes: readonly StridedAxis[]): Int32Array {
  const [first, ...rest] = axes.filter(({ extent }) => extent !== 1);
  return first === undefined
    ? Int32Array.from([1, 1, ...new Array<number>(arrays).fill(0)])
    : geometryOfFirst(first, rest);
}

function geometryOfFirst(first: StridedAxis, rest: readonly StridedAxis[]): Int32Array {
  const table = geometryOf(first.strides, rest);
  if (table[0] === 1) table[1] = 1;
  return table;
}

/** Every place of the axes in order, as offsets into the arrays. */
export function* placesOf(axes: readonly StridedAxis[]): Generator<readonly number[]> {
  const arrays = axes[0]?.strides.length ?? 0;
  const at = axes.map(() => 0);
  const offsets = new Array<number>(arrays).fill(0);
  if (axes.some(({ extent }) => extent === 0)) return;
  for (;;) {
    yield offsets;
    let axis = axes.length - 1;
    for (; axis >= 0; axis--) {
      const { extent, strides } = axes[axis];
      at[axis] += 1;
      for (let k = 0; k < arrays; k++) offsets[k] += strides[k];
      if (at[axis] < extent) break;
      for (let k = 0; k < arrays; k++) offsets[k] -= strides[k] * extent;
      at[axis] = 0;
    }
    if (axis < 0) return;
  }
}
