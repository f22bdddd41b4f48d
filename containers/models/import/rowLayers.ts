import { realElement } from './denseLayer.js';
import { pointerTo, type ModelDraft, type Tensor } from './modelDraft.js';

/** Softmax of each row of `width` values; x.width is a multiple of it. */
export function addSoftmax(draft: ModelDraft, x: Tensor, width: number): Tensor {
  return addRows(draft, x, width, 'softmax', `softmax_${realElement(x)}`, 60);
}

/** Each row of `width` values divided by its sum. */
export function addNormalization(draft: ModelDraft, x: Tensor, width: number): Tensor {
  return addRows(draft, x, width, 'normalized', 'normalize_f64', 20);
}

function addRows(
  draft: ModelDraft,
  x: Tensor,
  width: number,
  kind: string,
  kernel: string,
  instructionsEach: number,
): Tensor {
  const rows = x.width / width;
  const y = draft.tensor(draft.layerName(kind), realElement(x), x.width);
  draft.launch({
    module: 'rows',
    kernel,
    grid: [`ceilDiv(batch * ${rows}, 4)`, 1, 1],
    block: [32, 4, 1],
    arguments: [pointerTo(x), pointerTo(y), { i32: `batch * ${rows}` }, { i32: width }],
    instructions: rows * 32 * (180 + instructionsEach * Math.ceil(width / 32)) + 96 * 12,
  });
  return y;
}
