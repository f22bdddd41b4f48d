import type { GraphOp, GraphValue } from './graphOps.js';
import type { ExtentList, NodeReader } from './nodeReader.js';
import type { OnnxTensor } from './onnxModel.js';

/**
 * What a node becomes: a new op, a value that is there already (in another shape, or of an op that took the node on), a
 * constant, or numbers that are made of the batch's extent.
 */
export type Translation =
  | { readonly op: GraphOp }
  | { readonly alias: GraphValue }
  | { readonly constant: OnnxTensor }
  | { readonly list: ExtentList };

export type Translate = (reader: NodeReader) => Translation;
