import { pointerTo, type ModelDraft, type Tensor } from '../modelDraft.js';
import { constantSource, elementCount, type Source } from './sources.js';

/** Thread-instructions of one term. */
const EACH = 22;

/** Sums of the values of `most` terms, each times the row of its place: `features` x `outputs` weights. */
export function addTermProduct(
  draft: ModelDraft,
  terms: Source,
  weights: Float64Array,
  { most, features, outputs }: { most: number; features: number; outputs: number },
): Tensor {
  const y = draft.tensor(draft.layerName('terms'), 'f64', outputs);
  draft.launchElements({
    module: 'terms',
    kernel: 'term_product_f64',
    width: outputs,
    instructionsEach: 40 + EACH * most,
    arguments: [
      terms.pointer,
      constantSource(draft, 'termWeights', weights, 'f64').pointer,
      pointerTo(y),
      elementCount(outputs),
      { i32: most },
      { i32: features },
      { i32: outputs },
    ],
  });
  return y;
}

/** All features of a text, of which those without a term are 0. */
export function addTermRow(draft: ModelDraft, terms: Source, most: number, features: number): Tensor {
  const y = draft.tensor(draft.layerName('termRow'), 'f64', features);
  draft.launch({
    module: 'terms',
    kernel: 'term_row_f64',
    grid: ['batch', 1, 1],
    block: [128, 1, 1],
    arguments: [terms.pointer, pointerTo(y), { i32: most }, { i32: features }],
    instructions: EACH * (most + features) + 128 * 40,
  });
  return y;
}
