import { addTermProduct, addTermRow } from '../../layers/termLayers.js';
import { batchOfOperand, shapeOfOperand, typeOfOperand } from '../graphValues.js';
import type { NodeReader } from '../nodeReader.js';
import { DOUBLE } from '../tensorValues.js';
import type { OperatorTable, Translate } from '../translation.js';

/* Of texts as the input's encoding leaves them: pairs of a term's place and its value. ONNX has no such operators. */

/** Pairs, of doubles, of a row each. */
function termsOf(reader: NodeReader): { most: number } {
  const x = reader.value(0);
  const [rows, width] = x.shape;
  const isRows =
    x.shape.length === 2 && rows === 1 && width % 2 === 0 && typeOfOperand({ value: x }) === DOUBLE;
  return isRows ? { most: width / 2 } : reader.invalid(`terms of the shape [${x.shape.join(', ')}]`);
}

const termProduct: Translate = (reader) => {
  const { most } = termsOf(reader);
  const x = reader.operand(0);
  const weights = reader.constant(1);
  const [features, outputs] = weights.dims;
  const result = { shape: [1, outputs], batch: batchOfOperand(x), dataType: DOUBLE };
  return reader.result(result, [x], ({ draft, source }) =>
    addTermProduct(draft, source(x, 'f64'), weights.values, { most, features, outputs }),
  );
};

const termRow: Translate = (reader) => {
  const { most } = termsOf(reader);
  const x = reader.operand(0);
  const features = reader.integer('features', 0);
  if (features < 1) reader.invalid(`${features} features of [${shapeOfOperand(x).join(', ')}]`);
  const result = { shape: [1, features], batch: batchOfOperand(x), dataType: DOUBLE };
  return reader.result(result, [x], ({ draft, source }) =>
    addTermRow(draft, source(x, 'f64'), most, features),
  );
};

export const TERMS: OperatorTable = {
  TermProduct: { translate: termProduct },
  TermRow: { translate: termRow },
};
