import type { ModelDraft, Tensor } from '../modelDraft.js';
import { GraphEmission } from './emission.js';
import { translateGraph } from './graphTranslation.js';
import type { OnnxGraph } from './onnxModel.js';

export type { OnnxAttribute, OnnxGraph } from './onnxModel.js';
export { DOUBLE } from './tensorValues.js';

/** Puts a graph that no ONNX file had into a draft. @returns the tensors of its outputs @throws ModelError */
export function emitGraph(draft: ModelDraft, graph: OnnxGraph, file: string): readonly Tensor[] {
  const translated = translateGraph(graph, file, undefined, false);
  const emission = new GraphEmission(draft, translated);
  return translated.outputs.map(({ value }) => emission.tensor(value));
}
