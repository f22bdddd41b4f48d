import { geometryOf, innerGeometryOf, type StridedAxis } from '../geometry.js';
import { pointerTo, type ModelDraft, type Tensor } from '../modelDraft.js';
import { elementCount, signed, tableOf, type Source } from './sources.js';

/**
 * Sums of products of two arrays.
 * @param kept axes of the results, @param summed axes that are added up, at least one; strides of both: a, b
 */
export function addContraction(
  draft: ModelDraft,
  a: Source,
  b: Source,
  kept: readonly StridedAxis[],
  summed: readonly StridedAxis[],
): Tensor {
  const width = product(kept);
  // The longest axis is the inner loop: one step of it costs least.
  const [inner, ...others] = [...summed].sort((one, other) => other.extent - one.extent);
  const y = draft.tensor(draft.layerName('product'), a.element, width);
  const outer = product(others);
  draft.launchElements({
    module: 'products',
    kernel: `contract_${a.element}`,
    width,
    instructionsEach: 120 + 60 * kept.length + outer * (40 + 40 * others.length + 9 * inner.extent),
    arguments: [
      a.pointer,
      b.pointer,
      pointerTo(y),
      tableOf(draft, 'geometry', geometryOf([a.stride, b.stride], kept)),
      tableOf(draft, 'geometry', innerGeometryOf(2, others)),
      elementCount(width),
      { i32: outer },
      { i32: inner.extent },
      ...inner.strides.map(signed),
    ],
  });
  return y;
}

function product(axes: readonly StridedAxis[]): number {
  return axes.reduce((all, { extent }) => all * extent, 1);
}
