import {
  batchOfOperand,
  elementsOfShape,
  shapeOfOperand,
  typeOfOperand,
  type NodeInput,
  type Operand,
} from '../graphValues.js';
import type { NodeReader } from '../nodeReader.js';
import { BOOL, FLOAT } from '../tensorValues.js';
import type { OperatorTable, Translate } from '../translation.js';
import { castTo, operandOf, pairOf, whereOf } from './elementwise.js';
import { concatenated, gatherAlong, transposed } from './movement.js';
import { calculator, softmaxOf } from './normalizations.js';
import { contracted } from './products.js';
import { reduced } from './reductions.js';
import { reshapedTo } from './shapes.js';

/* Attention as products, a softmax and masks: no heads are moved, products go along them by strides. */

/** Axes by letters: the batch, groups of heads that share keys, heads of a group, queries, keys, a key's and a value's elements. */
const [BATCH, GROUP, MEMBER, QUERY, KEY, ELEMENT, VALUE] = [0, 1, 2, 3, 4, 5, 6];

export interface AttentionParts {
  /** batch x queries x heads * elements, or batch x heads x queries x elements; keys and values alike. */
  readonly q: Operand;
  readonly k: Operand;
  readonly v: Operand;
  readonly heads: number;
  /** Of keys and values: each is shared by as many heads. */
  readonly groups: number;
  /** 1 / sqrt(elements) unless given. */
  readonly scale: number | undefined;
  /** Scores s become cap * tanh(s / cap); 0: they stay. */
  readonly softcap: number;
  /** Added to scores, by the rules of broadcasting; -Infinity: that key is not seen. */
  readonly biases: readonly Operand[];
}

export interface AttentionResult {
  /** In the form that q has. */
  readonly y: Operand;
  /** batch x heads x queries x keys: scores, those with cap, with biases, and their softmax. */
  readonly scores: readonly [Operand, Operand, Operand, Operand];
}

/** softmax(q · k * scale + biases) · v. A query that sees no key answers 0. */
export function attended(reader: NodeReader, parts: AttentionParts): AttentionResult {
  const { heads, groups, softcap, biases } = parts;
  if (heads < 1 || groups < 1 || heads % groups !== 0)
    reader.invalid(`${heads} heads of queries over ${groups} of keys`);
  const q = headsOf(reader, parts.q, heads, groups, 'Q', [QUERY, ELEMENT]);
  const k = headsOf(reader, parts.k, groups, groups, 'K', [KEY, ELEMENT]);
  const v = headsOf(reader, parts.v, groups, groups, 'V', [KEY, VALUE]);
  const extent = ({ operand, letters }: Lettered, letter: number): number =>
    shapeOfOperand(operand)[letters.indexOf(letter)];
  if (extent(q, ELEMENT) !== extent(k, ELEMENT))
    reader.invalid(`Q has ${extent(q, ELEMENT)} elements a head, K ${extent(k, ELEMENT)}`);
  if (extent(k, KEY) !== extent(v, KEY)) reader.invalid(`${extent(k, KEY)} keys, ${extent(v, KEY)} values`);
  const [pair, math] = calculator(reader);
  const scale = parts.scale ?? 1 / Math.sqrt(extent(q, ELEMENT));
  const scaledQ = scale === 1 ? q.operand : math({ op: 'affine', a: scale, b: 0 }, q.operand);
  const [queries, keys] = [extent(q, QUERY), extent(k, KEY)];
  const raw = operandOf(
    reader,
    contracted(
      reader,
      { a: q.letters, b: k.letters, out: [BATCH, GROUP, MEMBER, QUERY, KEY] },
      scaledQ,
      k.operand,
    ),
  );
  const scores = reshapedTo(reader, raw, [0, heads, queries, keys]);
  const capped =
    softcap > 0
      ? math(
          { op: 'affine', a: softcap, b: 0 },
          math({ op: 'tanh' }, math({ op: 'affine', a: 1 / softcap, b: 0 }, scores)),
        )
      : scores;
  const bias =
    biases.length === 0 ? undefined : biases.reduce((sum, one) => pair('add', sum, castAs(reader, one, sum)));
  const biased = bias === undefined ? capped : pair('add', capped, castAs(reader, bias, capped));
  const shares = seeing(reader, operandOf(reader, softmaxOf(reader, biased, 'softmax')), bias);
  const parted = reshapedTo(reader, shares, [0, groups, heads / groups, queries, keys]);
  const isFlat = shapeOfOperand(parts.q).length === 3;
  const out = isFlat ? [BATCH, QUERY, GROUP, MEMBER, VALUE] : [BATCH, GROUP, MEMBER, QUERY, VALUE];
  const sum = operandOf(
    reader,
    contracted(reader, { a: [BATCH, GROUP, MEMBER, QUERY, KEY], b: v.letters, out }, parted, v.operand),
  );
  const each = extent(v, VALUE);
  const y = reshapedTo(reader, sum, isFlat ? [0, queries, heads * each] : [0, heads, queries, each]);
  return { y, scores: [scores, capped, biased, shares] };
}

interface Lettered {
  readonly operand: Operand;
  readonly letters: readonly number[];
}

/** An operand with an axis for each letter. */
function headsOf(
  reader: NodeReader,
  operand: Operand,
  heads: number,
  groups: number,
  name: string,
  [row, element]: readonly [number, number],
): Lettered {
  const shape = shapeOfOperand(operand);
  const [, second, third, fourth] = shape;
  const isShared = row === KEY;
  const [parts, letters] = isShared
    ? [[groups], [GROUP]]
    : [
        [groups, heads / groups],
        [GROUP, MEMBER],
      ];
  if (shape.length === 3) {
    if (third % heads !== 0)
      reader.invalid(`${name} has ${third} values a row, no multiple of ${heads} heads`);
    return {
      operand: reshapedTo(reader, operand, [0, second, ...parts, third / heads]),
      letters: [BATCH, row, ...letters, element],
    };
  }
  if (shape.length !== 4)
    reader.invalid(`${name} has the shape [${shape.join(', ')}], expected 3 or 4 extents`);
  if (second !== heads) reader.invalid(`${name} has ${second} heads, expected ${heads}`);
  return {
    operand: reshapedTo(reader, operand, [0, ...parts, third, fourth]),
    letters: [BATCH, ...letters, row, element],
  };
}

/** Shares, which are 0 in rows whose biases leave no key. */
function seeing(reader: NodeReader, shares: Operand, bias: Operand | undefined): Operand {
  if (bias === undefined) return shares;
  const most = operandOf(reader, reduced(reader, bias, 'largest', [-1], true));
  if ('constant' in most && !most.constant.values.includes(-Infinity)) return shares;
  const type = typeOfOperand(shares);
  const isBlind = operandOf(
    reader,
    pairOf(reader, 'equal', most, numbers([], [-Infinity], typeOfOperand(most)), BOOL),
  );
  return operandOf(reader, whereOf(reader, isBlind, numbers([], [0], type), shares, type));
}

function castAs(reader: NodeReader, operand: Operand, like: Operand): Operand {
  return castTo(reader, operand, typeOfOperand(like));
}

export function numbers(dims: readonly number[], values: Iterable<number>, dataType: number): Operand {
  return { constant: { name: '', dims, dataType, values: Float64Array.from(values) } };
}

/** 0 where a condition holds, -Infinity or another number elsewhere. */
export function hiding(reader: NodeReader, seen: Operand, dataType: number, otherwise = -Infinity): Operand {
  const [zero, hidden] = [numbers([], [0], dataType), numbers([], [otherwise], dataType)];
  return operandOf(reader, whereOf(reader, seen, zero, hidden, dataType));
}

/** queries x keys: 0 where `sees` says so, -Infinity elsewhere. */
export function pattern(
  queries: number,
  keys: number,
  dataType: number,
  sees: (query: number, key: number) => boolean,
): Operand {
  const cells = Float64Array.from({ length: queries * keys }, (_, at) =>
    sees(Math.floor(at / keys), at % keys) ? 0 : -Infinity,
  );
  return numbers([queries, keys], cells, dataType);
}

/** Keys below the length of each query: batch x 1 x 1 x keys, or with `ahead` of each row x keys. */
export function within(
  reader: NodeReader,
  lengths: Operand,
  limits: Operand,
  op: 'less' | 'lessOrEqual',
): Operand {
  const type = typeOfOperand(lengths);
  const column = reshapedTo(reader, lengths, [-1, 1, 1, 1]);
  return operandOf(reader, pairOf(reader, op, castTo(reader, limits, type), column, BOOL));
}

export function counted(count: number, dataType: number): Operand {
  return numbers(
    [count],
    Array.from({ length: count }, (_, k) => k),
    dataType,
  );
}

const attention: Translate = (reader) => {
  const [q, givenK, givenV] = [reader.numeric(0), reader.numeric(1), reader.numeric(2)];
  const type = reader.commonType([q, givenK]);
  const isFlat = shapeOfOperand(q).length === 3;
  const heads = isFlat ? reader.integer('q_num_heads', 0) : shapeOfOperand(q)[1];
  const groups = isFlat ? reader.integer('kv_num_heads', 0) : shapeOfOperand(givenK)[1];
  if (isFlat && (heads < 1 || groups < 1))
    reader.invalid('q_num_heads and kv_num_heads must be given where Q has 3 extents');
  const needsCache = reader.optional(4) !== undefined || reader.hasOutput(1) || reader.hasOutput(2);
  const cached = (given: Operand, place: number): Operand => {
    if (!needsCache) return given;
    const apart = byHeads(reader, given, groups);
    const past = reader.optional(place) === undefined ? undefined : reader.numeric(place);
    return past === undefined ? apart : operandOf(reader, concatenated(reader, [past, apart], 2));
  };
  const [k, v] = [cached(givenK, 4), cached(givenV, 5)];
  const queries = isFlat ? shapeOfOperand(q)[1] : shapeOfOperand(q)[2];
  const keys = shapeOfOperand(k).length === 3 ? shapeOfOperand(k)[1] : shapeOfOperand(k)[2];
  const past = reader.optional(4) === undefined ? 0 : shapeOfOperand(reader.numeric(4))[2];
  const scale = reader.float('scale', 0);
  const { y, scores } = attended(reader, {
    q,
    k,
    v,
    heads,
    groups,
    scale: scale === 0 ? undefined : scale,
    softcap: reader.float('softcap', 0),
    biases: masks(reader, { queries, keys, past, type }),
  });
  const mode = reader.integer('qk_matmul_output_mode', 0);
  const shown = scores[mode] ?? reader.invalid(`qk_matmul_output_mode ${mode}`);
  return needsCache ? [y, k, v, shown] : [y, y, y, shown];
};

/** batch x rows x heads * elements as batch x heads x rows x elements. */
function byHeads(reader: NodeReader, operand: Operand, heads: number): Operand {
  const shape = shapeOfOperand(operand);
  if (shape.length !== 3) return operand;
  const [, rows, width] = shape;
  const apart = reshapedTo(reader, operand, [0, rows, heads, width / heads]);
  return operandOf(reader, transposed(reader, apart, [0, 2, 1, 3]));
}

/** What hides keys: the mask, the order of time, a window, and the length of each query. */
function masks(
  reader: NodeReader,
  { queries, keys, past, type }: { queries: number; keys: number; past: number; type: number },
): readonly Operand[] {
  const biases: Operand[] = [];
  if (reader.optional(3) !== undefined) biases.push(maskOf(reader, reader.numeric(3), keys, type));
  const lengths = reader.optional(6) === undefined ? undefined : reader.numeric(6);
  const [left, right] = ['left_window_size', 'right_window_size'].map((name) => reader.integer(name, -1));
  if (lengths !== undefined) {
    const isOwn = within(reader, lengths, counted(keys, typeOfOperand(lengths)), 'less');
    biases.push(hiding(reader, isOwn, type));
    if (left >= 0 || right >= 0)
      reader.refuse('a window beside nonpad_kv_seqlen is not supported: leave one of them out');
  }
  if (reader.integer('is_causal', 0) !== 0) {
    if (lengths === undefined) biases.push(pattern(queries, keys, type, (query, key) => key <= query + past));
    else {
      // key <= query + length - queries
      const cells = Array.from(
        { length: queries * keys },
        (_, at) => (at % keys) - Math.floor(at / keys) + queries,
      );
      const limits = numbers([queries, keys], cells, typeOfOperand(lengths));
      biases.push(hiding(reader, within(reader, lengths, limits, 'lessOrEqual'), type));
    }
  }
  if (left >= 0 || right >= 0) {
    biases.push(
      pattern(queries, keys, type, (query, key) => {
        const behind = query + past - key;
        return (left < 0 || behind <= left) && (right < 0 || -behind <= right);
      }),
    );
  }
  return biases;
}

/** The mask as a bias; keys that it does not reach are hidden. */
function maskOf(reader: NodeReader, mask: Operand, keys: number, type: number): Operand {
  const bias = typeOfOperand(mask) === BOOL ? hiding(reader, mask, type) : castTo(reader, mask, type);
  const shape = shapeOfOperand(bias);
  const given = shape[shape.length - 1];
  if (given === keys || (given === 1 && shape.length > 0)) return bias;
  if (given > keys) reader.invalid(`the mask has ${given} keys, there are ${keys}`);
  const dims = [...shape.slice(0, -1), keys - given];
  const rest = numbers(dims, new Float64Array(elementsOfShape(dims)).fill(-Infinity), type);
  return operandOf(reader, concatenated(reader, [bias, rest], -1));
}

export interface Rotation {
  /** batch x rows x heads x elements. */
  readonly x: Operand;
  /** rows x half the rotated elements, or batch x rows x that. */
  readonly cos: Operand;
  readonly sin: Operand;
  readonly isInterleaved: boolean;
}

/** The first elements of each head turned by an angle of their row: pairs (a, b) become (a cos - b sin, a sin + b cos). */
export function rotated(reader: NodeReader, { x, cos, sin, isInterleaved }: Rotation): Operand {
  const shape = shapeOfOperand(x);
  const width = shape[shape.length - 1];
  const half = shapeOfOperand(cos)[shapeOfOperand(cos).length - 1];
  const turned = 2 * half;
  if (turned > width) reader.invalid(`${half} angles of heads of ${width} elements`);
  const places = Array.from({ length: turned }, (_, k) => k);
  const angleOf = (k: number): number => (isInterleaved ? Math.floor(k / 2) : k % half);
  const isFirst = (k: number): boolean => (isInterleaved ? k % 2 === 0 : k < half);
  const step = isInterleaved ? 1 : half;
  const list = (values: readonly number[]): Operand => numbers([values.length], values, 7);
  const of = (operand: Operand, chosen: readonly number[]): Operand =>
    operandOf(reader, gatherAlong(reader, operand, shapeOfOperand(operand).length - 1, list(chosen)));
  const [pair] = calculator(reader);
  const type = typeOfOperand(x);
  // An axis for the heads.
  const angles = (table: Operand): Operand => {
    const wide = castTo(reader, of(table, places.map(angleOf)), type);
    const own = shapeOfOperand(wide);
    return reshapedTo(reader, wide, own.length === 2 ? [own[0], 1, turned] : [0, own[1], 1, turned]);
  };
  const head = turned === width ? x : of(x, places);
  const partner = of(
    x,
    places.map((k) => (isFirst(k) ? k + step : k - step)),
  );
  const signs = numbers(
    [turned],
    places.map((k) => (isFirst(k) ? -1 : 1)),
    type,
  );
  const result = pair(
    'add',
    pair('multiply', head, angles(cos)),
    pair('multiply', partner, pair('multiply', angles(sin), signs)),
  );
  if (turned === width) return result;
  const rest = of(
    x,
    Array.from({ length: width - turned }, (_, k) => turned + k),
  );
  return operandOf(reader, concatenated(reader, [result, rest], -1));
}

/** Rows by heads, whatever form x has, and back. */
export function rotatedAsGiven(
  reader: NodeReader,
  x: Operand,
  heads: number,
  rotation: Omit<Rotation, 'x'>,
): Operand {
  const shape = shapeOfOperand(x);
  if (shape.length === 4) {
    const rows = operandOf(reader, transposed(reader, x, [0, 2, 1, 3]));
    return operandOf(reader, transposed(reader, rotated(reader, { ...rotation, x: rows }), [0, 2, 1, 3]));
  }
  const [, rows, width] = shape;
  if (shape.length !== 3 || heads < 1 || width % heads !== 0)
    reader.invalid(`the shape [${shape.join(', ')}] in ${heads} heads`);
  const apart = reshapedTo(reader, x, [0, rows, heads, width / heads]);
  return reshapedTo(reader, rotated(reader, { ...rotation, x: apart }), [0, rows, width]);
}

const rotaryEmbedding: Translate = (reader) => {
  const x = reader.numeric(0);
  const places = reader.optional(3) === undefined ? undefined : reader.numeric(3);
  const [cos, sin] = [1, 2].map((place): Operand => {
    const table = reader.numeric(place);
    if (places === undefined) return table;
    return operandOf(reader, gatherAlong(reader, table, 0, places));
  });
  if (batchOfOperand(cos) !== undefined && batchOfOperand(cos)?.axis !== 0) reader.refuseMixing('the angles');
  const isInterleaved = reader.integer('interleaved', 0) !== 0;
  const turned = reader.integer('rotary_embedding_dim', 0);
  const own = shapeOfOperand(cos);
  if (turned > 0 && 2 * own[own.length - 1] !== turned)
    reader.invalid(`rotary_embedding_dim is ${turned}, the caches have ${own[own.length - 1]} angles`);
  return rotatedAsGiven(reader, x, reader.integer('num_heads', 0), { cos, sin, isInterleaved });
};

/** x / sqrt(mean of squares + epsilon) * scale, over the axes from `first` on. */
export function meanSquareNormalized(
  reader: NodeReader,
  x: Operand,
  scale: Operand,
  first: number,
  epsilon: number,
): { readonly y: Operand; readonly inverse: Operand } {
  const axes = shapeOfOperand(x).flatMap((_, axis) => (axis < first ? [] : [axis]));
  const [pair, math] = calculator(reader);
  const mean = operandOf(reader, reduced(reader, pair('multiply', x, x), 'mean', axes, true));
  const size = math({ op: 'squareRoot' }, math({ op: 'affine', a: 1, b: epsilon }, mean));
  const y = pair('multiply', pair('divide', x, size), castTo(reader, scale, typeOfOperand(x)));
  return { y, inverse: math({ op: 'reciprocal' }, size) };
}

const meanSquareNormalization: Translate = (reader): NodeInput[] => {
  const x = reader.numeric(0);
  const first = reader.axis(reader.integer('axis', -1), shapeOfOperand(x).length);
  const { y, inverse } = meanSquareNormalized(
    reader,
    x,
    reader.numeric(1),
    first,
    reader.float('epsilon', 1e-5),
  );
  return [y, castTo(reader, inverse, FLOAT)];
};

export const ATTENTION: OperatorTable = {
  Attention: {
    translate: attention,
    limits: 'keys of a fixed number, the past among them; no window beside nonpad_kv_seqlen',
  },
  RotaryEmbedding: { translate: rotaryEmbedding },
  RMSNormalization: { translate: meanSquareNormalization, limits: 'not over the batch' },
  SimplifiedLayerNormalization: {
    translate: meanSquareNormalization,
    limits: "as RMSNormalization: ONNX Runtime's own name for it",
  },
};
