import {
  batchOfOperand,
  elementsOfShape,
  shapeOfOperand,
  typeOfOperand,
  type NodeInput,
  type Operand,
} from '../graphValues.js';
import type { NodeReader } from '../nodeReader.js';
import { BOOL, INT32, INT64 } from '../tensorValues.js';
import type { OperatorTable, Translate } from '../translation.js';
import {
  attended,
  counted,
  hiding,
  meanSquareNormalized,
  numbers,
  pattern,
  rotatedAsGiven,
  within,
} from './attention.js';
import { castTo, mathOf, operandOf, pairOf } from './elementwise.js';
import { gatherAlong, transposed } from './movement.js';
import { calculator, groupNormalized, rowNormalized } from './normalizations.js';
import { matrixProduct } from './products.js';
import { reduced } from './reductions.js';
import { reshapedTo } from './shapes.js';

/* Operators of com.microsoft: what ONNX Runtime's optimizer, Hugging Face's optimum and older exporters fuse networks into. */

function sum(reader: NodeReader, parts: readonly (Operand | undefined)[]): Operand {
  const [pair] = calculator(reader);
  const there = parts.filter((part) => part !== undefined);
  return there.reduce((total, part) => pair('add', total, castTo(reader, part, typeOfOperand(total))));
}

function optional(reader: NodeReader, place: number): Operand | undefined {
  return reader.optional(place) === undefined ? undefined : reader.numeric(place);
}

const gelu =
  (op: 'gelu' | 'geluTanh'): Translate =>
  (reader) =>
    mathOf(reader, sum(reader, [reader.numeric(0), optional(reader, 1)]), { op });

const quickGelu: Translate = (reader) =>
  mathOf(reader, reader.numeric(0), { op: 'swish', a: reader.float('alpha', 1.702) });

const biasAdd: Translate = (reader) =>
  sum(
    reader,
    [0, 1, 2].map((place) => optional(reader, place)),
  );

/** x + skip (+ bias), normalized; the sum itself is the fourth output. */
const skipNormalization: Translate = (reader) => {
  const total = sum(
    reader,
    [0, 1, 4].map((place) => optional(reader, place)),
  );
  const [y, mean, inverse] = rowNormalized(
    reader,
    total,
    reader.numeric(2),
    optional(reader, 3),
    reader.float('epsilon', 1e-12),
  );
  return [y, mean, inverse, total];
};

const skipMeanSquareNormalization: Translate = (reader) => {
  const total = sum(
    reader,
    [0, 1, 3].map((place) => optional(reader, place)),
  );
  const last = shapeOfOperand(total).length - 1;
  const { y, inverse } = meanSquareNormalized(
    reader,
    total,
    reader.numeric(2),
    last,
    reader.float('epsilon', 1e-12),
  );
  return [y, inverse, inverse, total];
};

/** Words, their places and kinds as vectors, added up and normalized. */
const embedding: Translate = (reader) => {
  const words = reader.numeric(0);
  const rows = (table: Operand, places: Operand): Operand =>
    operandOf(reader, gatherAlong(reader, table, 0, places));
  const [, count] = shapeOfOperand(words);
  const placesGiven = optional(reader, 8);
  const kinds = optional(reader, 1);
  const total = sum(reader, [
    rows(reader.numeric(2), words),
    rows(reader.numeric(3), placesGiven ?? counted(count, INT64)),
    kinds === undefined ? undefined : rows(reader.numeric(4), kinds),
  ]);
  const [y] = rowNormalized(
    reader,
    total,
    reader.numeric(5),
    reader.numeric(6),
    reader.float('epsilon', 1e-12),
  );
  const mask = optional(reader, 7);
  // Of each query the number of words that its mask has.
  const lengths =
    mask === undefined
      ? mathOf(reader, operandOf(reader, reduced(reader, words, 'sum', [1], false)), {
          op: 'affine',
          a: 0,
          b: 0,
        })
      : reduced(reader, mask, 'sum', [1], false);
  return [y, castTo(reader, operandOf(reader, lengths), INT32), total];
};

/** The weights' columns of queries, keys and values, each as a matrix of its own. */
const attention: Translate = (reader) => {
  const x = reader.numeric(0);
  const heads = reader.integer('num_heads', 0);
  if (reader.optional(4) !== undefined)
    reader.refuse(
      'past keys and values are not supported: export the model without its cache (use_past=False)',
    );
  if (reader.integer('do_rotary', 0) !== 0)
    reader.refuse('do_rotary=1 is not supported: leave the rotation to RotaryEmbedding nodes (no fusion)');
  const weights = reader.constant(1);
  const bias = reader.optional(2) === undefined ? undefined : reader.constant(2);
  const [inputs, all] = weights.dims;
  const sizes = reader.integerList('qkv_hidden_sizes') ?? [];
  const [q, k, v] = sizes.length === 3 ? sizes : [all / 3, all / 3, all / 3];
  if (q + k + v !== all || ![q, k, v].every((size) => Number.isInteger(size / heads)))
    reader.invalid(`weights of ${all} columns for ${heads} heads of queries, keys and values`);
  const part = (start: number, width: number): Operand => {
    const columns = Float64Array.from({ length: inputs * width }, (_, at) => {
      const row = Math.floor(at / width);
      return weights.values[row * all + start + (at % width)];
    });
    const product = matrixProduct(reader, x, numbers([inputs, width], columns, weights.dataType));
    const offset =
      bias === undefined
        ? undefined
        : numbers([width], bias.values.slice(start, start + width), weights.dataType);
    return sum(reader, [operandOf(reader, product), offset]);
  };
  const [, rows] = shapeOfOperand(x);
  const { y } = attended(reader, {
    q: part(0, q),
    k: part(q, k),
    v: part(q + k, v),
    heads,
    groups: heads,
    scale: scaleOf(reader),
    softcap: 0,
    biases: [
      ...paddingOf(reader, 3, rows, rows, typeOfOperand(x)),
      ...[optional(reader, 5)].filter((one) => one !== undefined),
      ...causal(reader, rows, rows, typeOfOperand(x)),
    ],
  });
  return y;
};

const multiHeadAttention: Translate = (reader) => {
  const q = reader.numeric(0);
  if (shapeOfOperand(q).length !== 3 || reader.optional(1) === undefined || reader.optional(2) === undefined)
    reader.refuse('packed queries, keys and values are not supported: give each as an input of its own');
  if (reader.optional(6) !== undefined || reader.optional(7) !== undefined)
    reader.refuse(
      'past keys and values are not supported: export the model without its cache (use_past=False)',
    );
  const heads = reader.integer('num_heads', 0);
  const bias = reader.optional(3) === undefined ? undefined : reader.constant(3);
  let start = 0;
  const biased = (place: number): Operand => {
    const operand = reader.numeric(place);
    const shape = shapeOfOperand(operand);
    if (bias === undefined || shape.length !== 3) return operand;
    const width = shape[2];
    const own = numbers([width], bias.values.slice(start, start + width), bias.dataType);
    start += width;
    return sum(reader, [operand, own]);
  };
  const [queries, keys, values] = [biased(0), biased(1), biased(2)];
  const keyShape = shapeOfOperand(keys);
  const rows = keyShape[keyShape.length - 2];
  const type = typeOfOperand(q);
  const { y, scores } = attended(reader, {
    q: queries,
    k: keys,
    v: values,
    heads,
    groups: heads,
    scale: scaleOf(reader),
    softcap: 0,
    biases: [
      ...paddingOf(reader, 4, shapeOfOperand(q)[1], rows, type),
      ...[optional(reader, 5)].filter((one) => one !== undefined),
      ...causal(reader, shapeOfOperand(q)[1], rows, type),
    ],
  });
  if (reader.hasOutput(1) || reader.hasOutput(2))
    reader.refuse(
      'present keys and values are not supported: export the model without its cache (use_past=False)',
    );
  return [y, y, y, scores[2]];
};

function scaleOf(reader: NodeReader): number | undefined {
  const scale = reader.float('scale', 0);
  return scale === 0 ? undefined : scale;
}

function causal(reader: NodeReader, queries: number, keys: number, type: number): Operand[] {
  if (reader.integer('unidirectional', 0) === 0) return [];
  return [pattern(queries, keys, type, (query, key) => key <= query + keys - queries)];
}

/** A mask of padding: the length of each query, or 1 for each key (of each row) that counts. */
function paddingOf(
  reader: NodeReader,
  place: number,
  queries: number,
  keys: number,
  type: number,
): Operand[] {
  const mask = optional(reader, place);
  if (mask === undefined) return [];
  const shape = shapeOfOperand(mask);
  const hidden = reader.float('mask_filter_value', -10_000);
  if (shape.length === 1) {
    // The ends of all queries, and behind them perhaps their starts, which padding on the left has.
    const isEnds = batchOfOperand(mask) !== undefined;
    if (!isEnds) reader.refuse(`a mask of the shape [${shape.join(', ')}]: give one of batch x keys`);
    const isOwn = within(reader, mask, counted(keys, typeOfOperand(mask)), 'less');
    return [hiding(reader, isOwn, type, hidden)];
  }
  const isSeen = operandOf(
    reader,
    pairOf(reader, 'greater', mask, numbers([], [0], typeOfOperand(mask)), BOOL),
  );
  const bias = hiding(reader, isSeen, type, hidden);
  if (shape.length === 2 && shape[1] === keys) return [reshapedTo(reader, bias, [0, 1, 1, keys])];
  if (shape.length === 3 && shape[1] === queries && shape[2] === keys)
    return [reshapedTo(reader, bias, [0, 1, queries, keys])];
  return reader.refuse(
    `a mask of the shape [${shape.join(', ')}] for ${queries} queries and ${keys} keys: give one of batch x keys, or batch x queries x keys`,
  );
}

const rotaryEmbedding: Translate = (reader) => {
  const x = reader.numeric(0);
  const places = reader.numeric(1);
  const shape = shapeOfOperand(x);
  const rows = shape.length === 4 ? shape[2] : shape[1];
  // One place: that of the first row.
  const isStart = shapeOfOperand(places).length === 1;
  const chosen = isStart
    ? operandOf(
        reader,
        pairOf(reader, 'add', counted(rows, typeOfOperand(places)), places, typeOfOperand(places)),
      )
    : places;
  const [cos, sin] = [2, 3].map((place) =>
    operandOf(reader, gatherAlong(reader, reader.numeric(place), 0, chosen)),
  );
  const half = shapeOfOperand(cos)[shapeOfOperand(cos).length - 1];
  const turned = reader.integer('rotary_embedding_dim', 0);
  if (reader.integer('is_packed_batching', 0) !== 0 || reader.float('scale', 1) !== 1)
    reader.refuse('is_packed_batching and a scale other than 1 are not supported');
  const heads = reader.integer('num_heads', 0);
  return rotatedAsGiven(
    reader,
    x,
    heads === 0 && turned === 0 ? shape[shape.length - 1] / (2 * half) : heads,
    {
      cos,
      sin,
      isInterleaved: reader.integer('interleaved', 0) !== 0,
    },
  );
};

/** Of images whose channels come last, as ONNX Runtime has it; with an activation. */
const groupNormalization: Translate = (reader) => {
  const x = reader.numeric(0);
  const isLast = reader.integer('channels_last', 1) !== 0;
  const { length } = shapeOfOperand(x);
  const inner = Array.from({ length: length - 2 }, (_, k) => k);
  const first = isLast
    ? operandOf(reader, transposed(reader, x, [0, length - 1, ...inner.map((k) => k + 1)]))
    : x;
  const y = groupNormalized(
    reader,
    first,
    castTo(reader, reader.numeric(1), typeOfOperand(x)),
    castTo(reader, reader.numeric(2), typeOfOperand(x)),
    reader.integer('groups', 1),
  );
  const active =
    reader.integer('activation', 0) === 1
      ? operandOf(reader, mathOf(reader, operandOf(reader, y), { op: 'swish', a: 1 }))
      : operandOf(reader, y);
  return isLast ? transposed(reader, active, [0, ...inner.map((k) => k + 2), 1]) : active;
};

const fusedMatMul: Translate = (reader) => {
  const turned = (place: number, side: 'A' | 'B'): Operand => {
    const operand = reader.numeric(place);
    if (reader.integer(`transBatch${side}`, 0) !== 0) reader.refuse(`transBatch${side}=1 is not supported`);
    if (reader.integer(`trans${side}`, 0) === 0) return operand;
    const { length } = shapeOfOperand(operand);
    const order = Array.from({ length }, (_, k) => (k < length - 2 ? k : 2 * length - 3 - k));
    return operandOf(reader, transposed(reader, operand, order));
  };
  const result = operandOf(reader, matrixProduct(reader, turned(0, 'A'), turned(1, 'B')));
  const alpha = reader.float('alpha', 1);
  return alpha === 1 ? result : mathOf(reader, result, { op: 'affine', a: alpha, b: 0 });
};

/** Distances of the rows of one matrix to those of another. */
const distances: Translate = (reader): NodeInput => {
  const [a, b] = [reader.numeric(0), reader.numeric(1)];
  const [[rows, width], [others]] = [shapeOfOperand(a), shapeOfOperand(b)];
  const metric = reader.text('metric', 'sqeuclidean');
  if (metric !== 'sqeuclidean' && metric !== 'euclidean')
    reader.refuse(`the metric '${metric}' is not supported, only euclidean and sqeuclidean`);
  if (elementsOfShape([rows, others, width]) > 2 ** 22)
    reader.refuse(`${others} points of ${width} values are too many: at most ${2 ** 22} values in all`);
  const apart = pairOf(
    reader,
    'subtract',
    reshapedTo(reader, a, [0, 1, width]),
    reshapedTo(reader, b, [1, others, width]),
  );
  return reduced(
    reader,
    operandOf(reader, apart),
    metric === 'euclidean' ? 'l2' : 'sumOfSquares',
    [2],
    false,
  );
};

export const CONTRIBUTED: OperatorTable = {
  Attention: {
    translate: attention,
    limits: 'weights constant; no past; masks of lengths, keys or rows and keys',
  },
  BiasAdd: { translate: biasAdd },
  BiasGelu: { translate: gelu('gelu') },
  CDist: { translate: distances, limits: 'euclidean and sqeuclidean' },
  EmbedLayerNormalization: { translate: embedding },
  FastGelu: { translate: gelu('geluTanh') },
  FusedMatMul: { translate: fusedMatMul, limits: 'no transBatchA, transBatchB' },
  Gelu: { translate: gelu('gelu') },
  GroupNorm: { translate: groupNormalization },
  MultiHeadAttention: { translate: multiHeadAttention, limits: 'not packed; no past; masks as Attention' },
  QuickGelu: { translate: quickGelu },
  RotaryEmbedding: { translate: rotaryEmbedding, limits: 'no packed batches' },
  SkipLayerNormalization: { translate: skipNormalization },
  SkipSimplifiedLayerNormalization: { translate: skipMeanSquareNormalization },
};
