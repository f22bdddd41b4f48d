import { addMath, type MathFunction } from '../../layers/mathLayers.js';
import { addChoose, addConversion, addPair, type PairOp } from '../../layers/stridedLayers.js';
import { addActivation, type Activation } from '../../denseLayer.js';
import { along, broadcastOf, expanded } from '../broadcasting.js';
import {
  batchOfOperand,
  elementsOfShape,
  shapeOfOperand,
  typeOfOperand,
  type Extent,
  type ExtentList,
  type FusableOp,
  type GraphValue,
  type NodeInput,
  type Operand,
} from '../graphValues.js';
import type { NodeReader } from '../nodeReader.js';
import type { OnnxTensor } from '../onnxModel.js';
import { MATH_FUNCTIONS, PAIR_FUNCTIONS } from '../functions.js';
import { listOf, listResult } from '../extentLists.js';
import { BOOL, FLOAT, FLOAT16, INT32, INT64, elementOfType, isWholeType, typeName } from '../tensorValues.js';
import type { OperatorTable, Translate, Translation } from '../translation.js';

/** A function of one value. */
function math(of: (reader: NodeReader) => MathFunction): Translate {
  return (reader) => mathOf(reader, reader.numeric(0), of(reader));
}

export function mathOf(
  reader: NodeReader,
  operand: Operand,
  what: MathFunction,
  dataType = typeOfOperand(operand),
): NodeInput {
  if ('constant' in operand) {
    const { constant } = operand;
    const { op, a = 0, b = 0 } = what;
    const values = constant.values.map((value) => MATH_FUNCTIONS[op](value, a, b));
    if (values.some(Number.isNaN) && op !== 'isNaN') reader.invalid(`a constant becomes NaN`);
    return { constant: { ...constant, dataType, values } };
  }
  const { value } = operand;
  const width = elementsOfShape(value.shape);
  const element = elementOfType(dataType);
  return reader.result({ shape: value.shape, batch: value.batch, dataType }, [operand], (emission) => {
    const y = addMath(emission.draft, emission.source(operand), width, what);
    return y.element === element
      ? y
      : addConversion(
          emission.draft,
          { pointer: { pointer: y.name }, stride: width, element: y.element },
          width,
          element,
        );
  });
}

function activation(kind: Activation): Translate {
  return (reader) => {
    const operand = reader.numeric(0);
    if ('constant' in operand) return mathOf(reader, operand, { op: kind === 'identity' ? 'affine' : kind });
    const { value } = operand;
    const { source } = value;
    if (value.readOnce && isFusable(source) && source.activation === 'identity') {
      source.activation = kind;
      return { value };
    }
    return reader.result(value, [operand], ({ draft, tensor }) => addActivation(draft, tensor(value), kind));
  };
}

function isFusable(source: GraphValue['source']): source is FusableOp {
  return source.kind !== 'input' && source.kind !== 'part' && source.kind !== 'general';
}

/** Clip between bounds that are constants (attributes up to operator set 10), or values of the query. */
const clip: Translate = (reader) => {
  const x = reader.numeric(0);
  const bounds = [1, 2].map((place) => reader.optionalOperand(place));
  if (bounds.every((bound) => bound === undefined || 'constant' in bound)) {
    const low = reader.number(1, 'min', -Infinity);
    const high = reader.number(2, 'max', Infinity);
    const [a, b] = [Math.max(low, -Number.MAX_VALUE), Math.min(high, Number.MAX_VALUE)];
    // As numpy.clip has it: with bounds in the wrong order the upper one.
    return mathOf(reader, x, a > b ? { op: 'affine', a: 0, b } : { op: 'clip', a, b });
  }
  let result: NodeInput = x;
  for (const [op, bound] of [
    ['largest', bounds[0]],
    ['smallest', bounds[1]],
  ] as const) {
    if (bound !== undefined) result = pairOf(reader, op, operandOf(reader, result), bound);
  }
  return result;
};

export function operandOf(reader: NodeReader, input: NodeInput): Operand {
  return 'list' in input ? reader.refuse("it is made of the batch's extent") : input;
}

/** A function of two operands by the rules of broadcasting. */
export function pairOf(reader: NodeReader, op: PairOp, a: Operand, b: Operand, dataType?: number): NodeInput {
  const type = dataType ?? typeOfOperand(a);
  const { shape, batch, axes } = broadcastOf(reader, [a, b]);
  const compute = op === 'divide' && isWholeType(typeOfOperand(a)) ? 'divideWhole' : op;
  if ('constant' in a && 'constant' in b) {
    reader.madeElements(shape);
    const [left, right] = [expanded(a.constant, shape), expanded(b.constant, shape)];
    const values = left.map((one, place) => PAIR_FUNCTIONS[compute](one, right[place]));
    const bad = values.find(
      (value, place) =>
        !Number.isFinite(value) && Number.isFinite(left[place]) && Number.isFinite(right[place]),
    );
    if (bad !== undefined) reader.invalid(`a constant becomes ${bad}`);
    return { constant: { name: '', dims: shape, dataType: type, values } };
  }
  const operandType = typeOfOperand('value' in a ? a : b);
  return reader.result({ shape, batch, dataType: type }, [a, b], (emission) => {
    const element = elementOfType(operandType);
    return addPair(
      emission.draft,
      compute,
      emission.source(a, element),
      emission.source(b, element),
      axes,
      elementOfType(type) === 'f32',
    );
  });
}

/** Arithmetic of two inputs, of whole numbers among them that are made of the batch's extent. */
function pair(op: PairOp, dataType?: number): Translate {
  return (reader) => pairFrom(reader, op, dataType);
}

function pairFrom(reader: NodeReader, op: PairOp, dataType?: number): Translation {
  const [a, b] = [reader.input(0), reader.input(1)];
  if ('list' in a || 'list' in b)
    return pairOfLists(reader, op, listOf(reader, 0), listOf(reader, 1), dataType);
  const [left, right] = [reader.numeric(0), reader.numeric(1)];
  if (op !== 'power') reader.commonType([left, right]);
  return pairOf(reader, op, left, right, dataType);
}

/** Of two lists of numbers: products with the batch's extent are that many times it, sums of it are refused. */
function pairOfLists(
  reader: NodeReader,
  op: PairOp,
  left: ExtentList,
  right: ExtentList,
  dataType: number | undefined,
): Translation {
  const length = Math.max(left.extents.length, right.extents.length);
  const at = ({ extents }: ExtentList, index: number): Extent => {
    if (extents.length !== 1 && extents.length !== length) reader.invalid('its inputs differ in length');
    return extents[extents.length === 1 ? 0 : index];
  };
  const compute = PAIR_FUNCTIONS[op === 'divide' ? 'divideWhole' : op];
  const extents = Array.from({ length }, (_, index): Extent => {
    const [one, other] = [at(left, index), at(right, index)];
    if (typeof one === 'number' && typeof other === 'number') return finite(reader, compute(one, other));
    if (op === 'equal') return equalExtents(reader, one, other);
    if (op === 'multiply' && typeof one !== typeof other) {
      const [times, factor] = typeof one === 'number' ? [other, one] : [one, other];
      if (typeof times !== 'number' && typeof factor === 'number' && factor >= 1) {
        return { times: times.times * factor };
      }
    }
    if (
      op === 'divide' &&
      typeof one !== 'number' &&
      typeof other !== 'number' &&
      one.times % other.times === 0
    ) {
      return one.times / other.times;
    }
    if (op === 'divide' && typeof one !== 'number' && typeof other === 'number' && one.times % other === 0) {
      return { times: one.times / other };
    }
    const keeps = [one, other].every(
      (extent) =>
        typeof extent !== 'number' || (op === 'add' || op === 'subtract' ? extent === 0 : extent === 1),
    );
    const isFirst = typeof one !== 'number';
    if (keeps && (isFirst || (op !== 'subtract' && op !== 'divide'))) return isFirst ? one : other;
    return reader.refuseMixing("computing with the batch's extent");
  });
  return listResult({ extents, isScalar: left.isScalar && right.isScalar }, dataType ?? INT64);
}

function equalExtents(reader: NodeReader, one: Extent, other: Extent): number {
  if (typeof one !== 'number' && typeof other !== 'number') return one.times === other.times ? 1 : 0;
  const number = typeof one === 'number' ? one : other;
  return typeof number === 'number' && number <= 0 ? 0 : reader.refuseMixing("comparing the batch's extent");
}

function finite(reader: NodeReader, value: number): number {
  return Number.isFinite(value) ? value : reader.invalid(`a constant becomes ${value}`);
}

/* Sums and products with constants that a layer before them takes on. */

const addition: Translate = (reader) => {
  const found = valueAndConstant(reader);
  if (found === undefined) return sumOfTwo(reader);
  const { value, constant } = found;
  const { source, shape } = value;
  if (value.readOnce && isFusable(source) && source.activation === 'identity') {
    if (source.kind === 'dense' || source.kind === 'convolution') {
      const bias = along(constant, shape, channelAxis(source, shape));
      if (bias !== undefined && source.bias === undefined) {
        source.bias = bias;
        return { value };
      }
    }
    if (source.kind === 'affine' && source.offset.every((one) => one === 0)) {
      source.offset = expanded(constant, shape);
      return { value };
    }
  }
  return reader.resultsOf(
    { kind: 'sum', x: value, other: expanded(constant, shape), activation: 'identity' },
    [value],
  );
};

function sumOfTwo(reader: NodeReader): Translation {
  const [a, b] = [reader.input(0), reader.input(1)];
  if ('value' in a && 'value' in b) {
    const [left, right] = [a.value, b.value];
    const isSame = left.shape.join() === right.shape.join() && left.dataType === right.dataType;
    if (isSame && elementOfType(left.dataType) === 'f32' && left.batch?.axis === right.batch?.axis) {
      return reader.resultsOf({ kind: 'sum', x: left, other: right, activation: 'identity' }, [left]);
    }
  }
  return pairFrom(reader, 'add');
}

const difference: Translate = (reader) => {
  const found = valueAndConstant(reader);
  if (found === undefined) return pairFrom(reader, 'subtract');
  const row = expanded(found.constant, found.value.shape);
  const sign = found.isValueFirst ? 1 : -1;
  return scaled(
    reader,
    found.value,
    filled(row.length, sign),
    row.map((one) => -sign * one + 0),
  );
};

const product: Translate = (reader) => {
  const found = valueAndConstant(reader);
  if (found === undefined) return pairFrom(reader, 'multiply');
  const factor = expanded(found.constant, found.value.shape);
  return scaled(reader, found.value, factor, filled(factor.length, 0));
};

const quotient: Translate = (reader) => {
  const found = valueAndConstant(reader);
  if (found?.isValueFirst !== true) return pairFrom(reader, 'divide');
  const divisor = expanded(found.constant, found.value.shape);
  if (divisor.includes(0)) reader.invalid('it divides by 0');
  return scaled(
    reader,
    found.value,
    divisor.map((one) => 1 / one),
    filled(divisor.length, 0),
  );
};

/** x * factor + offset in single precision, taken on by the layer that makes x if it can. */
export function scaled(
  reader: NodeReader,
  x: GraphValue,
  factor: Float64Array,
  offset: Float64Array,
): Translation {
  const { source } = x;
  if (
    x.readOnce &&
    isFusable(source) &&
    (source.kind === 'dense' || source.kind === 'convolution') &&
    source.activation === 'identity'
  ) {
    const axis = channelAxis(source, x.shape);
    const [factors, offsets] = [factor, offset].map((values) =>
      along({ name: '', dims: x.shape, dataType: FLOAT, values }, x.shape, axis),
    );
    if (factors !== undefined && offsets !== undefined) {
      const outputs = factors.length;
      const taps = source.weights.length / outputs;
      const outputOf = (index: number): number =>
        source.kind === 'dense' ? index % outputs : Math.floor(index / taps);
      source.weights = source.weights.map((weight, index) => weight * factors[outputOf(index)]);
      const { bias } = source;
      source.bias = offsets.map((one, output) => one + (bias?.[output] ?? 0) * factors[output]);
      return { value: x };
    }
  }
  return reader.resultsOf({ kind: 'affine', x, factor, offset, activation: 'identity' }, [x]);
}

/** The axis that a layer's outputs lie along: the last one of a dense layer, the one behind the batch of a convolution. */
function channelAxis(op: FusableOp, shape: readonly number[]): number {
  return op.kind === 'dense' ? shape.length - 1 : 1;
}

/** A value in single precision and a constant that does not make it larger; undefined: something else. */
function valueAndConstant(
  reader: NodeReader,
): { value: GraphValue; constant: OnnxTensor; isValueFirst: boolean } | undefined {
  const [a, b] = [reader.input(0), reader.input(1)];
  const isValueFirst = 'value' in a;
  const value = isValueFirst ? a.value : 'value' in b ? b.value : undefined;
  const constant = 'constant' in a ? a.constant : 'constant' in b ? b.constant : undefined;
  if (value === undefined || constant === undefined) return undefined;
  if (value.dataType !== FLOAT && value.dataType !== FLOAT16) return undefined;
  const { shape, batch } = broadcastOf(reader, [{ value }, { constant }]);
  if (shape.length !== value.shape.length || elementsOfShape(shape) !== elementsOfShape(value.shape)) {
    return undefined;
  }
  reader.commonType([{ value }, { constant }]);
  return constant.values.every(Number.isFinite)
    ? { value: { ...value, batch }, constant, isValueFirst }
    : undefined;
}

function filled(length: number, value: number): Float64Array {
  return new Float64Array(length).fill(value);
}

/** The same function over any number of inputs, one after the other. */
function folded(op: PairOp, finish?: (reader: NodeReader, sum: NodeInput) => NodeInput): Translate {
  return (reader) => {
    const [first, ...others] = reader.operands();
    reader.commonType([first, ...others]);
    const result = others.reduce<NodeInput>(
      (sum, other) => pairOf(reader, op, operandOf(reader, sum), other),
      first,
    );
    return finish?.(reader, result) ?? result;
  };
}

const power: Translate = (reader) => {
  const [base, exponent] = [reader.numeric(0), reader.numeric(1)];
  if (
    'constant' in exponent &&
    exponent.constant.values.length === 1 &&
    exponent.constant.dims.length <= shapeOfOperand(base).length
  ) {
    const isSquare = exponent.constant.values[0] === 2;
    if (isSquare) return pairOf(reader, 'multiply', base, base);
    return mathOf(reader, base, { op: 'power', a: exponent.constant.values[0] });
  }
  return wholeAgain(reader, pairOf(reader, 'power', base, castTo(reader, exponent, typeOfOperand(base))));
};

/** Whole numbers stay whole. */
function wholeAgain(reader: NodeReader, input: NodeInput): NodeInput {
  const operand = operandOf(reader, input);
  return isWholeType(typeOfOperand(operand)) ? mathOf(reader, operand, { op: 'truncate' }) : input;
}

const modulo: Translate = (reader) =>
  pairFrom(reader, reader.integer('fmod', 0) === 1 ? 'remainder' : 'modulo');

const where: Translate = (reader) => {
  const inputs = [0, 1, 2].map((place) => reader.input(place));
  if (inputs.some((input) => 'list' in input)) return whereOfLists(reader);
  const [condition, a, b] = [reader.numeric(0), reader.numeric(1), reader.numeric(2)];
  const dataType = reader.commonType([a, b]);
  return whereOf(reader, condition, a, b, dataType);
};

export function whereOf(
  reader: NodeReader,
  condition: Operand,
  a: Operand,
  b: Operand,
  dataType: number,
): NodeInput {
  const { shape, batch, axes } = broadcastOf(reader, [condition, a, b]);
  if ('constant' in condition && 'constant' in a && 'constant' in b) {
    reader.madeElements(shape);
    const [chosen, left, right] = [condition, a, b].map(({ constant }) => expanded(constant, shape));
    const values = chosen.map((is, place) => (is === 0 ? right[place] : left[place]));
    return { constant: { name: '', dims: shape, dataType, values } };
  }
  return reader.result({ shape, batch, dataType }, [condition, a, b], ({ draft, source }) => {
    const element = elementOfType(dataType);
    return addChoose(draft, source(condition, 'f32'), source(a, element), source(b, element), axes);
  });
}

function whereOfLists(reader: NodeReader): Translation {
  const [condition, a, b] = [0, 1, 2].map((place) => listOf(reader, place));
  const length = Math.max(...[condition, a, b].map(({ extents }) => extents.length));
  const at = ({ extents }: ExtentList, index: number): Extent => extents[extents.length === 1 ? 0 : index];
  const extents = Array.from({ length }, (_, index) =>
    at(condition, index) === 0 ? at(b, index) : at(a, index),
  );
  return listResult({ extents, isScalar: condition.isScalar && a.isScalar && b.isScalar }, INT64);
}

/** Another type of the same numbers. */
export function castTo(reader: NodeReader, operand: Operand, dataType: number): Operand {
  const from = typeOfOperand(operand);
  if (from === dataType) return operand;
  if (dataType === BOOL) return operandOf(reader, mathOf(reader, operand, { op: 'isNotZero' }, BOOL));
  if (dataType === FLOAT16) return operandOf(reader, mathOf(reader, operand, { op: 'toHalf' }, FLOAT16));
  if (isWholeType(dataType) && !isWholeType(from) && from !== BOOL) {
    return operandOf(reader, mathOf(reader, operand, { op: 'truncate' }, dataType));
  }
  if ('constant' in operand) {
    const round = dataType === FLOAT ? Math.fround : (value: number) => value;
    const { constant } = operand;
    return { constant: { ...constant, dataType, values: constant.values.map((one) => round(one)) } };
  }
  const { value } = operand;
  const [had, has] = [elementOfType(from), elementOfType(dataType)];
  if (had === has) return { value: { ...value, dataType } };
  const width = elementsOfShape(value.shape);
  return operandOf(
    reader,
    reader.result({ shape: value.shape, batch: value.batch, dataType }, [operand], ({ draft, source }) =>
      addConversion(draft, source(operand), width, has),
    ),
  );
}

const cast: Translate = (reader) => {
  const to = reader.integer('to', 0);
  const input = reader.input(0);
  if ('list' in input) {
    return to === INT32 || to === INT64
      ? input
      : reader.refuse(`a shape that is made of the batch's extent becomes ${typeName(to)}`);
  }
  return castInput(reader, input, to);
};

const castLike: Translate = (reader) =>
  castInput(reader, reader.operand(0), typeOfOperand(reader.operand(1)));

function castInput(reader: NodeReader, operand: Operand, to: number): Translation {
  if ('value' in operand && operand.value.columns !== undefined && to === 8) return operand;
  const texts = 'value' in operand ? (operand.value.texts ?? operand.value.columns) : operand.constant.texts;
  if (texts !== undefined || to === 8) {
    const isText = texts !== undefined && to === 8;
    return isText ? operand : reader.refuse('numbers and strings are not made of one another');
  }
  if (!isWholeType(to) && ![FLOAT, FLOAT16, 11, BOOL].includes(to)) {
    reader.refuse(`values become ${typeName(to)}, which no kernel computes with: cast to float`);
  }
  return castTo(reader, operand, to);
}

const identity: Translate = (reader) => {
  const input = reader.input(0);
  if (reader.node.opType !== 'Dropout') return input;
  const mode = reader.optional(2);
  if (mode !== undefined && (!('constant' in mode) || mode.constant.values[0] !== 0)) {
    reader.refuse('it is in training mode: export the model for inference');
  }
  if (!reader.hasOutput(1)) return input;
  const operand = reader.operand(0);
  const dims = shapeOfOperand(operand);
  const values = filled(elementsOfShape(dims), 1);
  const mask: Operand = { constant: { name: '', dims, dataType: BOOL, values } };
  // The mask is a result like others, of every query.
  const all =
    batchOfOperand(operand) === undefined
      ? mask
      : whereOf(reader, mask, castTo(reader, operand, BOOL), mask, BOOL);
  return [
    input,
    'constant' in all ? all : mathOf(reader, operandOf(reader, all), { op: 'affine', a: 0, b: 1 }),
  ];
};

const parametricRelu: Translate = (reader) => {
  const [x, slope] = [reader.numeric(0), reader.numeric(1)];
  return pairOf(reader, 'parametricRelu', x, slope);
};

const not: Translate = (reader) => mathOf(reader, reader.numeric(0), { op: 'not' }, BOOL);

const gelu: Translate = (reader) => {
  const kind = reader.text('approximate', 'none');
  return mathOf(reader, reader.numeric(0), { op: kind === 'tanh' ? 'geluTanh' : 'gelu' });
};

const isInfinite: Translate = (reader) => {
  const input = reader.operand(0);
  if ('value' in input && input.value.source.kind === 'input') {
    reader.refuse('it asks whether an input is infinite, which no query may be: leave it out');
  }
  const [a, b] = [reader.integer('detect_negative', 1), reader.integer('detect_positive', 1)];
  return mathOf(reader, reader.numeric(0), { op: 'isInfinite', a, b }, BOOL);
};

const simple = (op: MathFunction['op']): { translate: Translate } => ({ translate: math(() => ({ op })) });
const scalar = (
  op: MathFunction['op'],
  parameters: Readonly<Partial<Record<'a' | 'b', readonly [name: string, otherwise: number]>>>,
): { translate: Translate } => ({
  translate: math((reader) => ({
    op,
    a: reader.float(...(parameters.a ?? ['', 0])),
    b: reader.float(...(parameters.b ?? ['', 0])),
  })),
});

/** The mean of inputs: their sum over their number. */
const mean = folded('add', (reader, sum) => {
  const a = 1 / reader.inputCount;
  return mathOf(reader, operandOf(reader, sum), { op: 'affine', a, b: 0 });
});

export const ELEMENTWISE: OperatorTable = {
  Add: { translate: addition },
  Sub: { translate: difference },
  Mul: { translate: product },
  Div: { translate: quotient },
  Pow: { translate: power },
  Mod: { translate: modulo },
  Max: { translate: folded('largest') },
  Min: { translate: folded('smallest') },
  Sum: { translate: folded('add') },
  Mean: { translate: mean },
  PRelu: { translate: parametricRelu },
  Equal: { translate: pair('equal', BOOL) },
  Less: { translate: pair('less', BOOL) },
  LessOrEqual: { translate: pair('lessOrEqual', BOOL) },
  Greater: { translate: pair('greater', BOOL) },
  GreaterOrEqual: { translate: pair('greaterOrEqual', BOOL) },
  And: { translate: pair('and', BOOL) },
  Or: { translate: pair('or', BOOL) },
  Xor: { translate: pair('exclusiveOr', BOOL) },
  Not: { translate: not },
  Where: { translate: where },
  Cast: { translate: cast, limits: 'between numbers; whole numbers do not wrap around' },
  CastLike: { translate: castLike, limits: 'as Cast' },
  Identity: { translate: identity },
  Dropout: { translate: identity, limits: 'for inference' },
  Relu: { translate: activation('relu') },
  Sigmoid: { translate: activation('logistic') },
  Tanh: { translate: activation('tanh') },
  Clip: { translate: clip },
  Gelu: { translate: gelu },
  Abs: simple('abs'),
  Neg: simple('negate'),
  Reciprocal: simple('reciprocal'),
  Floor: simple('floor'),
  Ceil: simple('ceil'),
  Round: simple('round'),
  Sign: simple('sign'),
  Sqrt: simple('squareRoot'),
  Exp: simple('exponential'),
  Log: simple('logarithm'),
  Erf: simple('erf'),
  Softplus: simple('softplus'),
  Softsign: simple('softsign'),
  HardSwish: simple('hardSwish'),
  Mish: simple('mish'),
  Sin: simple('sin'),
  Cos: simple('cos'),
  Tan: simple('tan'),
  Asin: simple('asin'),
  Acos: simple('acos'),
  Atan: simple('atan'),
  Sinh: simple('sinh'),
  Cosh: simple('cosh'),
  Asinh: simple('asinh'),
  Acosh: simple('acosh'),
  Atanh: simple('atanh'),
  LeakyRelu: scalar('leakyRelu', { a: ['alpha', 0.01] }),
  Elu: scalar('elu', { a: ['alpha', 1] }),
  Celu: scalar('celu', { a: ['alpha', 1] }),
  Selu: scalar('selu', { a: ['alpha', 1.6732632423543772], b: ['gamma', 1.0507009873554805] }),
  ThresholdedRelu: scalar('thresholdedRelu', { a: ['alpha', 1] }),
  HardSigmoid: scalar('hardSigmoid', { a: ['alpha', 0.2], b: ['beta', 0.5] }),
  Shrink: scalar('shrink', { a: ['lambd', 0.5], b: ['bias', 0] }),
  Swish: scalar('swish', { a: ['alpha', 1] }),
  IsNaN: { translate: (reader) => mathOf(reader, reader.numeric(0), { op: 'isNaN' }, BOOL) },
  IsInf: { translate: isInfinite },
};
