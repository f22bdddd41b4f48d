import type { ManifestArgument } from '../../manifest.js';
import { pointerTo, type ModelDraft, type Tensor } from '../modelDraft.js';

export type RealElement = 'f32' | 'f64';

/** Values that a kernel reads: each item's own, or the same for all. */
export interface Source {
  readonly pointer: ManifestArgument;
  /** Values from item to item; 0: the same for all. */
  readonly stride: number;
  readonly element: RealElement;
}

export function sourceOf(tensor: Tensor): Source {
  if (tensor.element !== 'f32' && tensor.element !== 'f64') {
    throw new Error(`'${tensor.name}' holds ${tensor.element}, a layer takes f32 or f64`);
  }
  return { pointer: pointerTo(tensor), stride: tensor.width, element: tensor.element };
}

/** The same values for every item. */
export function constantSource(
  draft: ModelDraft,
  kind: string,
  values: ArrayLike<number>,
  element: RealElement,
): Source {
  const list = element === 'f32' ? Float32Array.from(values) : Float64Array.from(values);
  return { pointer: draft.weight(draft.layerName(kind), list), stride: 0, element };
}

/** A table that kernels read. */
export function tableOf(draft: ModelDraft, kind: string, values: Int32Array): ManifestArgument {
  return draft.weight(draft.layerName(kind), values);
}

/** Elements of a whole batch, in 32 bits. */
export function elementCount(width: number): ManifestArgument {
  return { i32: `batch * ${width}` };
}

/** A whole number that may be below 0, which expressions of a manifest write as a difference. */
export function signed(value: number): ManifestArgument {
  return { i32: value < 0 ? `0 - ${-value}` : value };
}
