import {
  BRANCHES,
  addTreeVotes,
  brokenTree,
  type Aggregate,
  type Branch,
  type InnerNode,
  type TreeEnsemble,
  type Votes,
} from '../../layers/treeVotes.js';
import {
  elementsOfShape,
  batchOfOperand,
  shapeOfOperand,
  typeOfOperand,
  type NodeInput,
  type Operand,
} from '../graphValues.js';
import type { NodeReader } from '../nodeReader.js';
import { BOOL, DOUBLE, FLOAT, INT64 } from '../tensorValues.js';
import type { OperatorTable, Translate } from '../translation.js';
import { castTo, mathOf, operandOf, pairOf, whereOf } from './elementwise.js';
import { concatenated, gatherAlong } from './movement.js';
import { calculator, softmaxOf } from './normalizations.js';
import { matrixProduct } from './products.js';
import { argumentOf, reduced } from './reductions.js';

/* The operators of ai.onnx.ml: what scikit-learn's and other libraries' models are written with. */

/** Rows of features, as the last extent. */
function rowsOf(reader: NodeReader, place = 0): Operand {
  const operand = reader.numeric(place);
  const shape = shapeOfOperand(operand);
  if (shape.length < 1 || batchOfOperand(operand)?.axis === shape.length - 1) {
    reader.refuseMixing(`features along axis ${shape.length - 1}`);
  }
  return operand;
}

function featuresOf(operand: Operand): number {
  const shape = shapeOfOperand(operand);
  return shape[shape.length - 1];
}

/** One row for each item: trees are asked row by row. */
function votesOf(reader: NodeReader, x: Operand, ensemble: TreeEnsemble): Operand {
  const features = featuresOf(x);
  const broken = brokenTree(ensemble, features);
  if (broken !== undefined) reader.invalid(`${broken}; write the file again`);
  const shape = shapeOfOperand(x);
  const rows = elementsOfShape(shape) / features;
  if (rows !== 1) {
    reader.refuse(
      `${rows} rows of a query, only one is supported: export the model with an open first extent, the batch`,
    );
  }
  const result = {
    shape: [...shape.slice(0, -1), ensemble.targets],
    batch: batchOfOperand(x),
    dataType: DOUBLE,
  };
  return operandOf(
    reader,
    reader.result(result, [x], ({ draft, source }) =>
      addTreeVotes(draft, source(x, 'f64'), features, ensemble),
    ),
  );
}

/** Trees as TreeEnsembleClassifier and TreeEnsembleRegressor have them: lists of nodes by tree and number. */
function ensembleOf(
  reader: NodeReader,
  votes: { readonly prefix: 'class' | 'target'; readonly targets: number; readonly base: readonly number[] },
  aggregate: Aggregate,
): TreeEnsemble {
  const { prefix, targets, base } = votes;
  const whole = (name: string): readonly number[] =>
    reader.integerList(name) ?? reader.invalid(`${name} is missing`);
  const real = (name: string): readonly number[] => {
    const listed = reader.floats(`${name}_as_tensor`);
    return listed.length > 0 ? listed : reader.floats(name);
  };
  const trees = whole('nodes_treeids');
  const numbers = whole('nodes_nodeids');
  const [features, trueNodes, falseNodes] = ['featureids', 'truenodeids', 'falsenodeids'].map((name) =>
    whole(`nodes_${name}`),
  );
  const modes = reader.texts('nodes_modes');
  const thresholds = real('nodes_values');
  const missing = reader.integerList('nodes_missing_value_tracks_true') ?? [];
  const lists = [numbers, features, trueNodes, falseNodes, modes, thresholds];
  if (lists.some(({ length }) => length !== trees.length))
    reader.invalid('its lists of nodes differ in length');
  const keyOf = (tree: number, node: number): string => `${tree}:${node}`;
  const places = new Map(trees.map((tree, place) => [keyOf(tree, numbers[place]), place]));
  const [voteTrees, voteNodes, voteTargets] = ['treeids', 'nodeids', 'ids'].map((name) =>
    whole(`${prefix}_${name}`),
  );
  const weights = real(`${prefix}_weights`);
  if ([voteNodes, voteTargets, weights].some(({ length }) => length !== voteTrees.length)) {
    reader.invalid('its lists of votes differ in length');
  }
  const leaves = new Map<number, { target: number; weight: number }[]>();
  voteTrees.forEach((tree, k) => {
    const place =
      places.get(keyOf(tree, voteNodes[k])) ??
      reader.invalid(`a vote of node ${voteNodes[k]} of tree ${tree}, which is not there`);
    const list = leaves.get(place) ?? [];
    list.push({ target: voteTargets[k], weight: weights[k] });
    leaves.set(place, list);
  });
  const at = (tree: number, node: number): number => places.get(keyOf(tree, node)) ?? -1;
  const nodes = modes.map((mode, place): InnerNode | Votes => {
    if (mode === 'LEAF') return leaves.get(place) ?? [];
    if (!Object.hasOwn(BRANCHES, mode)) return reader.refuse(`nodes of the mode '${mode}' are not supported`);
    return {
      feature: features[place],
      threshold: thresholds[place],
      branch: mode as Branch,
      left: at(trees[place], trueNodes[place]),
      right: at(trees[place], falseNodes[place]),
      missingLeft: missing[place] === 1,
    };
  });
  const children = new Set(nodes.flatMap((node) => ('branch' in node ? [node.left, node.right] : [])));
  const roots = [...new Set(trees)].map((tree) => {
    const root = trees.findIndex((own, place) => own === tree && !children.has(place));
    return root >= 0 ? root : reader.invalid(`tree ${tree} has no root; write the file again`);
  });
  return { roots, nodes, targets, base, aggregate, isSingle: false };
}

const treeClassifier: Translate = (reader) => {
  const x = rowsOf(reader);
  const labels = labelsOf(reader);
  const classes = labels.length;
  const ids = new Set(reader.integerList('class_ids') ?? []);
  const base = baseValues(reader);
  // As ONNX Runtime has it: votes for the first of two classes alone are one score, of the second.
  const isSingle = classes === 2 && ids.size === 1 && ids.has(0);
  const weights = [...reader.floats('class_weights'), ...reader.floats('class_weights_as_tensor')];
  if (!isSingle) {
    const ensemble = ensembleOf(
      reader,
      { prefix: 'class', targets: classes, base: base.length === classes ? base : [] },
      'SUM',
    );
    const raw = votesOf(reader, x, ensemble);
    return classified(reader, raw, labels, transformed(reader, raw));
  }
  const ensemble = ensembleOf(reader, { prefix: 'class', targets: 2, base: [] }, 'SUM');
  const single: TreeEnsemble = {
    ...ensemble,
    targets: 1,
    base: [base[base.length - 1] ?? 0],
    nodes: ensemble.nodes.map((node) =>
      'branch' in node ? node : node.map(({ weight }) => ({ target: 0, weight })),
    ),
  };
  return ofTwo(
    reader,
    votesOf(reader, x, single),
    labels,
    weights.every((weight) => weight >= 0),
  );
};

/** Label and scores of a single score: that of the second of two classes. */
function ofTwo(reader: NodeReader, raw: Operand, labels: Labels, isPositive: boolean): readonly NodeInput[] {
  const [, math] = calculator(reader);
  const threshold: Operand = {
    constant: { name: '', dims: [], dataType: DOUBLE, values: Float64Array.of(isPositive ? 0.5 : 0) },
  };
  const isSecond = operandOf(reader, pairOf(reader, 'greater', raw, threshold, BOOL));
  const transform = reader.text('post_transform', 'NONE');
  const second = transform === 'LOGISTIC' ? math({ op: 'logistic' }, raw) : raw;
  const first =
    transform === 'LOGISTIC' || isPositive
      ? math({ op: 'affine', a: -1, b: 1 }, second)
      : math({ op: 'affine', a: -1, b: 0 }, second);
  if (transform === 'PROBIT') reader.refuse('post_transform PROBIT is not supported');
  const scores = operandOf(reader, concatenated(reader, [first, second], -1));
  const label = labelled(reader, dropLast(castTo(reader, isSecond, INT64)), labels);
  return [label, castTo(reader, scores, FLOAT)];
}

interface Labels {
  readonly length: number;
  readonly texts: readonly string[] | undefined;
  readonly numbers: readonly number[];
}

function labelsOf(reader: NodeReader): Labels {
  const texts = reader.texts('classlabels_strings');
  if (texts.length > 0) return { length: texts.length, texts, numbers: [] };
  const numbers = [
    ...(reader.integerList('classlabels_int64s') ?? []),
    ...(reader.integerList('classlabels_ints') ?? []),
  ];
  if (numbers.length === 0) reader.invalid('it has no labels');
  return { length: numbers.length, texts: undefined, numbers };
}

/** The label of the highest score, and scores. */
function classified(reader: NodeReader, raw: Operand, labels: Labels, scores: Operand): readonly NodeInput[] {
  const axis = shapeOfOperand(raw).length - 1;
  if (featuresOf(raw) !== labels.length)
    reader.invalid(`${labels.length} labels of ${featuresOf(raw)} scores`);
  const place = operandOf(reader, argumentOf(reader, raw, axis, 1, false, false));
  return [labelled(reader, place, labels), castTo(reader, scores, FLOAT)];
}

/** Places among the classes as their labels. */
function labelled(reader: NodeReader, place: Operand, { texts, numbers }: Labels): NodeInput {
  if (texts !== undefined && 'value' in place) return { value: { ...place.value, dataType: INT64, texts } };
  if (numbers.every((label, k) => label === k)) return place;
  const list: Operand = {
    constant: { name: '', dims: [numbers.length], dataType: INT64, values: Float64Array.from(numbers) },
  };
  return gatherAlong(reader, list, 0, place);
}

function dropLast(operand: Operand): Operand {
  if ('constant' in operand) return operand;
  return { value: { ...operand.value, shape: operand.value.shape.slice(0, -1) } };
}

function baseValues(reader: NodeReader): readonly number[] {
  const listed = reader.floats('base_values_as_tensor');
  return listed.length > 0 ? listed : reader.floats('base_values');
}

/** Scores behind post_transform. */
function transformed(reader: NodeReader, raw: Operand): Operand {
  const [pair, math] = calculator(reader);
  const transform = reader.text('post_transform', 'NONE');
  switch (transform) {
    case 'NONE':
      return raw;
    case 'LOGISTIC':
      return math({ op: 'logistic' }, raw);
    case 'SOFTMAX':
      return operandOf(reader, softmaxOf(reader, raw, 'softmax'));
    case 'SOFTMAX_ZERO': {
      // Scores of 0 stay 0, the others share the rest.
      const powers = pair(
        'multiply',
        math({ op: 'exponential' }, raw),
        castTo(reader, math({ op: 'isNotZero' }, raw), typeOfOperand(raw)),
      );
      return pair('divide', powers, operandOf(reader, reduced(reader, powers, 'sum', [-1], true)));
    }
    default:
      return reader.refuse(`post_transform ${transform} is not supported`);
  }
}

const treeRegressor: Translate = (reader) => {
  const x = rowsOf(reader);
  const targets = reader.integer('n_targets', 1);
  if (!(targets >= 1 && targets <= 65_536)) reader.invalid(`n_targets is ${targets}`);
  const ensemble = ensembleOf(
    reader,
    { prefix: 'target', targets, base: baseValues(reader) },
    aggregateOf(reader, reader.text('aggregate_function', 'SUM')),
  );
  return castTo(reader, transformed(reader, votesOf(reader, x, ensemble)), FLOAT);
};

function aggregateOf(reader: NodeReader, name: string): Aggregate {
  return name === 'SUM' || name === 'AVERAGE' || name === 'MIN' || name === 'MAX'
    ? name
    : reader.refuse(`aggregate_function ${name} is not supported`);
}

const MODES: readonly Branch[] = [
  'BRANCH_LEQ',
  'BRANCH_LT',
  'BRANCH_GTE',
  'BRANCH_GT',
  'BRANCH_EQ',
  'BRANCH_NEQ',
];

/** TreeEnsemble of ai.onnx.ml 5: inner nodes and leaves in lists of their own. */
const trees: Translate = (reader) => {
  const x = rowsOf(reader);
  const whole = (name: string): readonly number[] =>
    reader.integerList(name) ?? reader.invalid(`${name} is missing`);
  const features = whole('nodes_featureids');
  const modes = whole('nodes_modes');
  const splits = reader.floats('nodes_splits');
  const missing = reader.integerList('nodes_missing_value_tracks_true') ?? [];
  const children = (['true', 'false'] as const).map((way) => ({
    at: whole(`nodes_${way}nodeids`),
    leaf: whole(`nodes_${way}leafs`),
  }));
  const leaves = whole('leaf_targetids').map((target, k): Votes => [
    { target, weight: reader.floats('leaf_weights')[k] },
  ]);
  const count = features.length;
  const childOf = (way: number, k: number): number =>
    children[way].at[k] + (children[way].leaf[k] === 1 ? count : 0);
  const inner = features.map((feature, k): InnerNode => ({
    feature,
    threshold: splits[k],
    branch: MODES[modes[k]] ?? reader.refuse('nodes that ask for members of a set are not supported'),
    left: childOf(0, k),
    right: childOf(1, k),
    missingLeft: missing[k] === 1,
  }));
  const ensemble: TreeEnsemble = {
    roots: whole('tree_roots'),
    nodes: [...inner, ...leaves],
    targets: reader.integer('n_targets', 1),
    base: [],
    aggregate: aggregateOf(reader, ['AVERAGE', 'SUM', 'MIN', 'MAX'][reader.integer('aggregate_function', 1)]),
    isSingle: false,
  };
  if (reader.integer('post_transform', 0) !== 0)
    reader.refuse('post_transform other than NONE is not supported');
  // A child that is a leaf may be that of several nodes.
  return castTo(reader, votesOf(reader, x, ensemble), typeOfOperand(x));
};

/** coefficients[outputs x features] times x, plus intercepts. */
function linear(reader: NodeReader, outputs: number): Operand {
  const x = castTo(reader, rowsOf(reader), FLOAT);
  const coefficients = reader.floats('coefficients');
  const features = featuresOf(x);
  if (coefficients.length !== outputs * features) {
    reader.invalid(`${coefficients.length} coefficients of ${outputs} x ${features}`);
  }
  const values = Float64Array.from(
    coefficients,
    (_, k) => coefficients[(k % outputs) * features + Math.floor(k / outputs)],
  );
  const matrix: Operand = { constant: { name: '', dims: [features, outputs], dataType: FLOAT, values } };
  const product = operandOf(reader, matrixProduct(reader, x, matrix));
  const intercepts = reader.floats('intercepts');
  if (intercepts.length === 0) return product;
  if (intercepts.length !== outputs) reader.invalid(`${intercepts.length} intercepts of ${outputs} outputs`);
  const row: Operand = {
    constant: { name: '', dims: [outputs], dataType: FLOAT, values: Float64Array.from(intercepts) },
  };
  return operandOf(reader, pairOf(reader, 'add', product, row));
}

const linearRegressor: Translate = (reader) =>
  transformed(reader, linear(reader, reader.integer('targets', 1)));

const linearClassifier: Translate = (reader) => {
  const labels = labelsOf(reader);
  const outputs = Math.round(reader.floats('coefficients').length / featuresOf(rowsOf(reader)));
  if (outputs === 1 && labels.length === 2) return ofTwo(reader, linear(reader, 1), labels, false);
  const raw = linear(reader, outputs);
  return classified(reader, raw, labels, transformed(reader, raw));
};

const scaler: Translate = (reader) => {
  const x = castTo(reader, rowsOf(reader), FLOAT);
  const [pair] = calculator(reader);
  const row = (name: string): Operand => {
    const values = Float64Array.from(reader.floats(name));
    return { constant: { name: '', dims: [values.length], dataType: FLOAT, values } };
  };
  return pair('multiply', pair('subtract', x, row('offset')), row('scale'));
};

const normalizer: Translate = (reader) => {
  const x = castTo(reader, rowsOf(reader), FLOAT);
  const [pair, math] = calculator(reader);
  const kind = reader.text('norm', 'MAX');
  if (kind !== 'MAX' && kind !== 'L1' && kind !== 'L2') reader.invalid(`norm '${kind}' is none of ONNX`);
  const size = operandOf(
    reader,
    reduced(reader, x, kind === 'MAX' ? 'largest' : kind === 'L1' ? 'l1' : 'l2', [-1], true),
  );
  // A row of zeros stays as it is.
  const one: Operand = { constant: { name: '', dims: [], dataType: FLOAT, values: Float64Array.of(1) } };
  const isZero = castTo(reader, math({ op: 'not' }, size), BOOL);
  return pair('divide', x, operandOf(reader, whereOf(reader, isZero, one, size, FLOAT)));
};

const imputer: Translate = (reader) => {
  const x = rowsOf(reader);
  const floats = reader.floats('imputed_value_floats');
  const values = floats.length > 0 ? floats : (reader.integerList('imputed_value_int64s') ?? []);
  if (values.length !== 1 && values.length !== featuresOf(x))
    reader.invalid(`${values.length} values of ${featuresOf(x)} features`);
  const dataType = typeOfOperand(x);
  const replaced =
    floats.length > 0 ? reader.float('replaced_value_float', NaN) : reader.integer('replaced_value_int64', 0);
  const row: Operand = {
    constant: { name: '', dims: [values.length], dataType, values: Float64Array.from(values) },
  };
  const sought: Operand = { constant: { name: '', dims: [], dataType, values: Float64Array.of(replaced) } };
  const isMissing = Number.isNaN(replaced)
    ? mathOf(reader, x, { op: 'isNaN' }, BOOL)
    : pairOf(reader, 'equal', x, sought, BOOL);
  return whereOf(reader, operandOf(reader, isMissing), row, x, dataType);
};

const binarizer: Translate = (reader) => {
  const x = castTo(reader, rowsOf(reader), FLOAT);
  const threshold: Operand = {
    constant: { name: '', dims: [], dataType: FLOAT, values: Float64Array.of(reader.float('threshold', 0)) },
  };
  return castTo(reader, operandOf(reader, pairOf(reader, 'greater', x, threshold, BOOL)), FLOAT);
};

/** Each value as one of its categories: an axis more. */
const oneHotEncoder: Translate = (reader) => {
  const texts = reader.texts('cats_strings');
  const codes = reader.categories(0, texts);
  const x = codes ?? reader.numeric(0);
  const categories =
    codes === undefined ? (reader.integerList('cats_int64s') ?? []) : texts.map((_, place) => place);
  if (categories.length === 0) reader.refuse('its categories are strings, and its input numbers');
  if (reader.integer('zeros', 1) !== 1) reader.refuse('zeros=0 is not supported: a kernel refuses no value');
  const row: Operand = {
    constant: {
      name: '',
      dims: [categories.length],
      dataType: typeOfOperand(x),
      values: Float64Array.from(categories),
    },
  };
  const column: Operand =
    'constant' in x
      ? { constant: { ...x.constant, dims: [...x.constant.dims, 1] } }
      : { value: { ...x.value, shape: [...x.value.shape, 1] } };
  return castTo(reader, operandOf(reader, pairOf(reader, 'equal', column, row, BOOL)), FLOAT);
};

const featureExtractor: Translate = (reader) => {
  const x = reader.operand(0);
  const places = reader.operand(1);
  const axis = shapeOfOperand(x).length - 1;
  if (batchOfOperand(x)?.axis === axis) reader.refuseMixing(`axis ${axis}`);
  if ('constant' in x && x.constant.texts !== undefined && 'value' in places) {
    return { value: { ...places.value, dataType: 8, texts: x.constant.texts } };
  }
  if ('value' in places && 'constant' in x) {
    const flat: Operand = { constant: { ...x.constant, dims: [x.constant.values.length] } };
    return gatherAlong(reader, flat, 0, places);
  }
  const list: Operand =
    'constant' in places
      ? { constant: { ...places.constant, dims: [places.constant.values.length] } }
      : places;
  return gatherAlong(reader, x, axis, list);
};

const featureVectorizer: Translate = (reader) =>
  concatenated(
    reader,
    reader.operands().map((operand) => castTo(reader, operand, FLOAT)),
    -1,
  );

/** A map from labels to scores is what its scores are: answers say their labels. */
const zipMap: Translate = (reader) => reader.operand(0);

/** Strings of the query as numbers or other strings, by lists of both. */
function ofStrings(reader: NodeReader, keys: readonly string[]): NodeInput | undefined {
  const codes = reader.categories(0, keys);
  if (codes === undefined) return undefined;
  const texts = reader.texts('values_strings');
  if (texts.length > 0) {
    const all = [...texts, reader.text('default_string', '_Unused')];
    const place = mappedCodes(
      reader,
      codes,
      all.map((_, k) => k),
      INT64,
    );
    return 'value' in place ? { value: { ...place.value, texts: all } } : place;
  }
  const whole = reader.integerList('values_int64s') ?? [];
  return whole.length > 0
    ? mappedCodes(reader, codes, [...whole, reader.integer('default_int64', -1)], INT64)
    : mappedCodes(
        reader,
        codes,
        [...reader.floats('values_floats'), reader.float('default_float', 0)],
        FLOAT,
      );
}

/** Values by their places; the last is that of -1. */
function mappedCodes(
  reader: NodeReader,
  codes: Operand,
  values: readonly number[],
  dataType: number,
): NodeInput {
  const list: Operand = {
    constant: { name: '', dims: [values.length], dataType, values: Float64Array.from(values) },
  };
  return gatherAlong(reader, list, 0, codes);
}

const categoryMapper: Translate = (reader) => {
  const texts = reader.texts('cats_strings');
  const numbers = reader.integerList('cats_int64s') ?? [];
  if (texts.length !== numbers.length)
    reader.invalid(`${texts.length} strings and ${numbers.length} numbers`);
  const codes = reader.categories(0, texts);
  if (codes !== undefined)
    return mappedCodes(reader, codes, [...numbers, reader.integer('default_int64', -1)], INT64);
  if (numbers.length > MOST_KEYS) reader.refuse(`${numbers.length} categories are more than ${MOST_KEYS}`);
  const place = operandOf(
    reader,
    chosenBy(
      reader,
      reader.numeric(0),
      numbers,
      texts.map((_, k) => k),
      texts.length,
      INT64,
    ),
  );
  const all = [...texts, reader.text('default_string', '_Unused')];
  return 'value' in place ? { value: { ...place.value, texts: all } } : place;
};

const MOST_KEYS = 64;

/** What is equal to a key is its value, one after the other: so many launches as keys, few as they are. */
function chosenBy(
  reader: NodeReader,
  x: Operand,
  keys: readonly number[],
  values: readonly number[],
  otherwise: number,
  dataType: number,
): NodeInput {
  const constant = (value: number, type: number): Operand => ({
    constant: { name: '', dims: [], dataType: type, values: Float64Array.of(value) },
  });
  return keys.reduce<Operand>(
    (result, key, k) =>
      operandOf(
        reader,
        whereOf(
          reader,
          operandOf(reader, pairOf(reader, 'equal', x, constant(key, typeOfOperand(x)), BOOL)),
          constant(values[k], dataType),
          result,
          dataType,
        ),
      ),
    constant(otherwise, dataType),
  );
}

const labelEncoder: Translate = (reader) => {
  const found = ofStrings(reader, reader.texts('keys_strings'));
  if (found !== undefined) return found;
  const x = reader.numeric(0);
  const whole = reader.integerList('keys_int64s') ?? [];
  const keys = whole.length > 0 ? whole : reader.floats('keys_floats');
  const texts = reader.texts('values_strings');
  const numbers = reader.integerList('values_int64s') ?? [];
  const isText = texts.length > 0;
  const values = isText
    ? texts.map((_, place) => place)
    : numbers.length > 0
      ? numbers
      : reader.floats('values_floats');
  if (keys.length === 0 || values.length !== keys.length)
    reader.refuse(
      'keys that are numbers, and as many values, are supported, or strings of the query as the input',
    );
  if (keys.length > MOST_KEYS) reader.refuse(`${keys.length} keys are more than ${MOST_KEYS}`);
  if (isText) {
    const place = chosenBy(reader, x, keys, values, texts.length, INT64);
    const all = [...texts, reader.text('default_string', '_Unused')];
    return 'value' in place ? { value: { ...place.value, texts: all } } : place;
  }
  return numbers.length > 0
    ? chosenBy(reader, x, keys, values, reader.integer('default_int64', -1), INT64)
    : chosenBy(reader, x, keys, values, reader.float('default_float', 0), FLOAT);
};

const single = (translate: Translate, limits?: string): { translate: Translate; limits?: string } =>
  limits === undefined ? { translate } : { translate, limits };

export const CLASSICAL: OperatorTable = {
  TreeEnsemble: single(trees, 'no sets of members; one row a query'),
  TreeEnsembleClassifier: single(treeClassifier, 'one row a query; not PROBIT'),
  TreeEnsembleRegressor: single(treeRegressor, 'one row a query; not PROBIT'),
  LinearClassifier: single(linearClassifier, 'not PROBIT'),
  LinearRegressor: single(linearRegressor, 'not PROBIT'),
  Scaler: single(scaler),
  Normalizer: single(normalizer),
  Imputer: single(imputer),
  Binarizer: single(binarizer),
  OneHotEncoder: single(oneHotEncoder, 'unknown categories are all 0'),
  ArrayFeatureExtractor: single(featureExtractor),
  FeatureVectorizer: single(featureVectorizer),
  CategoryMapper: single(categoryMapper),
  LabelEncoder: single(labelEncoder, 'of strings any number of keys, of numbers 64 at most'),
  ZipMap: single(zipMap, 'its scores stay a tensor'),
};
