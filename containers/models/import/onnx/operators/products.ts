import { stridesOf, type StridedAxis } from '../../geometry.js';
import { addContraction } from '../../layers/productLayers.js';
import { along } from '../broadcasting.js';
import {
  batchOfOperand,
  elementsOfShape,
  shapeOfOperand,
  typeOfOperand,
  type BatchPlace,
  type ConstantOperand,
  type NodeInput,
  type Operand,
  type ValueOperand,
} from '../graphValues.js';
import type { NodeReader } from '../nodeReader.js';
import { FLOAT, elementOfType, isWholeType } from '../tensorValues.js';
import type { OperatorTable, Translate } from '../translation.js';
import { castTo, mathOf, operandOf, pairOf } from './elementwise.js';
import { transposed } from './movement.js';

/** Rows of x times a constant matrix, as a layer that takes on what follows. */
function dense(
  reader: NodeReader,
  x: ValueOperand,
  weights: Float64Array,
  inputs: number,
  outputs: number,
  bias: Float64Array | undefined,
): NodeInput {
  const { value } = x;
  const shape = [...value.shape.slice(0, -1), outputs];
  return reader.resultsOf(
    { kind: 'dense', x: value, inputs, outputs, weights, bias, activation: 'identity' },
    [{ ...value, shape }],
  )[0];
}

const gemm: Translate = (reader) => {
  const [a, b] = [reader.numeric(0), reader.numeric(1)];
  const c = reader.optional(2) === undefined ? undefined : reader.numeric(2);
  const [alpha, beta] = [reader.float('alpha', 1), reader.float('beta', 1)];
  const [turnA, turnB] = [reader.integer('transA', 0) !== 0, reader.integer('transB', 0) !== 0];
  for (const [operand, name] of [
    [a, 'A'],
    [b, 'B'],
  ] as const) {
    const { length } = shapeOfOperand(operand);
    if (length !== 2)
      reader.invalid(
        `${name} has the shape [${shapeOfOperand(operand).join(', ')}], expected two extents: flatten it first`,
      );
  }
  const [rows, columns] = turned(shapeOfOperand(b), turnB);
  const [, inputs] = turned(shapeOfOperand(a), turnA);
  if (rows !== inputs) reader.invalid(`B takes ${rows} values, A has ${inputs}`);
  if (!turnA && 'value' in a && 'constant' in b && isLayer(a)) {
    const bias = c === undefined ? undefined : 'constant' in c ? along(c.constant, [1, columns], 1) : null;
    if (bias !== null) {
      const weights = new Float64Array(inputs * columns);
      for (let k = 0; k < inputs; k++) {
        for (let n = 0; n < columns; n++) {
          weights[k * columns + n] = alpha * b.constant.values[turnB ? n * inputs + k : k * columns + n];
        }
      }
      const isWide = c !== undefined && elementsOfShape(shapeOfOperand(c)) > columns;
      if (!isWide)
        return dense(
          reader,
          a,
          weights,
          inputs,
          columns,
          bias?.map((value) => beta * value),
        );
    }
  }
  const left = turnA ? operandOf(reader, transposed(reader, a, [1, 0])) : a;
  const right = turnB ? operandOf(reader, transposed(reader, b, [1, 0])) : b;
  let result = matrixProduct(reader, left, right);
  if (alpha !== 1) result = mathOf(reader, operandOf(reader, result), { op: 'affine', a: alpha, b: 0 });
  if (c === undefined) return result;
  const addend = beta === 1 ? c : operandOf(reader, mathOf(reader, c, { op: 'affine', a: beta, b: 0 }));
  return pairOf(reader, 'add', operandOf(reader, result), addend);
};

function turned(shape: readonly number[], isTurned: boolean): readonly number[] {
  return isTurned ? [shape[1], shape[0]] : shape;
}

/** Values whose rows a layer can take: real numbers. */
function isLayer(operand: Operand): boolean {
  return !isWholeType(typeOfOperand(operand));
}

const matMul: Translate = (reader) => {
  const [a, b] = [reader.numeric(0), reader.numeric(1)];
  reader.commonType([a, b]);
  return matrixProduct(reader, a, b);
};

/** The product of matrices in the last two axes, as numpy.matmul has it. */
export function matrixProduct(reader: NodeReader, a: Operand, b: Operand): NodeInput {
  const [left, right] = [shapeOfOperand(a), shapeOfOperand(b)];
  if (left.length === 0 || right.length === 0) reader.invalid('a number is no matrix');
  const inputs = left[left.length - 1];
  const rows = right.length === 1 ? right[0] : right[right.length - 2];
  const terms = [left.length - 1, Math.max(0, right.length - 2)];
  [a, b].forEach((operand, side) => {
    if (batchOfOperand(operand)?.axis === terms[side]) reader.refuseMixing(`axis ${terms[side]}`);
  });
  if (rows !== inputs) reader.invalid(`one side takes ${rows} values, the other side has ${inputs}`);
  if ('constant' in a && 'constant' in b) return constantProduct(reader, a, b);
  const batch = batchOfOperand(a);
  if ('value' in a && 'constant' in b && right.length === 2 && isLayer(a)) {
    if (batch?.axis === left.length - 1) reader.refuseMixing(`axis ${batch.axis}`);
    return dense(reader, a, b.constant.values, inputs, right[1], undefined);
  }
  return contracted(reader, matrixTerms(left, right), a, b);
}

/** Axes by letters, as an equation of Einsum has them. */
export interface Equation {
  readonly a: readonly number[];
  readonly b: readonly number[];
  readonly out: readonly number[];
}

/** Letters are numbers here: the rows', the terms' and the columns', and then those that go along. */
function matrixTerms(left: readonly number[], right: readonly number[]): Equation {
  const outer = Math.max(left.length, right.length, 2) - 2;
  const common = Array.from({ length: outer }, (_, k) => 3 + k);
  const [ROW, TERM, COLUMN] = [0, 1, 2];
  const a = left.length === 1 ? [TERM] : [...common.slice(outer - (left.length - 2)), ROW, TERM];
  const b = right.length === 1 ? [TERM] : [...common.slice(outer - (right.length - 2)), TERM, COLUMN];
  const out = [...common, ...(left.length === 1 ? [] : [ROW]), ...(right.length === 1 ? [] : [COLUMN])];
  return { a, b, out };
}

/** Sums of products over the letters that the result has not. */
export function contracted(
  reader: NodeReader,
  { a, b, out }: Equation,
  left: Operand,
  right: Operand,
): NodeInput {
  const [leftShape, rightShape] = [shapeOfOperand(left), shapeOfOperand(right)];
  const extents = new Map<number, number>();
  for (const [letters, shape] of [
    [a, leftShape],
    [b, rightShape],
  ] as const) {
    letters.forEach((letter, axis) => {
      const known = extents.get(letter) ?? 1;
      if (known !== 1 && shape[axis] !== 1 && known !== shape[axis]) {
        reader.invalid(
          `the shapes [${leftShape.join(', ')}] and [${rightShape.join(', ')}] do not go together`,
        );
      }
      extents.set(letter, Math.max(known, shape[axis]));
    });
  }
  const [leftSteps, rightSteps] = [stridesOf(leftShape), stridesOf(rightShape)];
  const axisOf = (letter: number): StridedAxis => {
    const step = (letters: readonly number[], steps: readonly number[], shape: readonly number[]): number =>
      letters.reduce((sum, own, axis) => (own === letter && shape[axis] !== 1 ? sum + steps[axis] : sum), 0);
    return {
      extent: extents.get(letter) ?? 1,
      strides: [step(a, leftSteps, leftShape), step(b, rightSteps, rightShape)],
    };
  };
  const batch = batchOfLetters(reader, { a, b, out }, left, right);
  const shape = out.map((letter) => extents.get(letter) ?? 1);
  const summed = [...extents.keys()].filter((letter) => !out.includes(letter)).map(axisOf);
  const kept = out.map(axisOf);
  const dataType = typeOfOperand('value' in left ? left : right);
  const element = elementOfType(dataType);
  return reader.result({ shape, batch, dataType }, [left, right], ({ draft, source }) =>
    addContraction(
      draft,
      source(left, element),
      source(right, element),
      kept,
      summed.length === 0 ? [{ extent: 1, strides: [0, 0] }] : summed,
    ),
  );
}

function batchOfLetters(
  reader: NodeReader,
  { a, b, out }: Equation,
  left: Operand,
  right: Operand,
): BatchPlace | undefined {
  const places = [
    {
      batch: batchOfOperand(left),
      letters: a,
      other: b,
      shape: shapeOfOperand(right),
      isValue: 'value' in right,
    },
    {
      batch: batchOfOperand(right),
      letters: b,
      other: a,
      shape: shapeOfOperand(left),
      isValue: 'value' in left,
    },
  ];
  let found: { letter: number; before: number } | undefined;
  for (const { batch } of places) {
    if (batch === undefined) continue;
    const { letters } = places.find((place) => place.batch === batch) ?? places[0];
    const letter = letters[batch.axis];
    if (found !== undefined && (found.letter !== letter || found.before !== batch.before)) {
      reader.refuseMixing('batches along different axes');
    }
    found = { letter, before: batch.before };
  }
  if (found === undefined) return undefined;
  const { letter, before } = found;
  for (const { batch, letters } of places) {
    if (batch !== undefined) continue;
    const own = places.find((place) => place.letters === letters);
    const axis = letters.indexOf(letter);
    const shape = own === places[0] ? shapeOfOperand(left) : shapeOfOperand(right);
    if (axis >= 0 && shape[axis] !== 1) reader.refuseMixing(`${shape[axis]} values along the batch`);
  }
  const axis = out.indexOf(letter);
  return axis < 0 ? reader.refuseMixing('adding up along the batch') : { axis, before };
}

function constantProduct(reader: NodeReader, a: ConstantOperand, b: ConstantOperand): NodeInput {
  const [left, right] = [a.constant, b.constant];
  if (left.dims.length !== 2 || right.dims.length !== 2)
    reader.refuse('a product of constants with more extents than two: let the exporter fold it');
  const [rows, inputs] = left.dims;
  const columns = right.dims[1];
  const values = new Float64Array(reader.madeElements([rows, columns]));
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      let sum = 0;
      for (let k = 0; k < inputs; k++)
        sum += left.values[row * inputs + k] * right.values[k * columns + column];
      values[row * columns + column] = sum;
    }
  }
  return { constant: { name: '', dims: [rows, columns], dataType: left.dataType, values } };
}

/** Sums of products by an equation of letters, of one or two operands. */
const einsum: Translate = (reader) => {
  const equation = reader.text('equation', '').replaceAll(' ', '');
  const [from, to] = equation.split('->');
  const names = from.split(',');
  if (names.length !== reader.inputCount || names.length > 2) {
    reader.refuse(`the equation '${equation}' of ${reader.inputCount} inputs: one or two are supported`);
  }
  const operands = reader.operands();
  reader.commonType(operands);
  const ranks = operands.map(
    (operand, place) => shapeOfOperand(operand).length - names[place].replace('...', '').length,
  );
  const wide = Math.max(...ranks);
  const letters = names.map((name, place) => lettersOf(name, ranks[place], wide));
  letters.forEach((list, place) => {
    if (list.length !== shapeOfOperand(operands[place]).length) {
      reader.invalid(`'${names[place]}' and the shape [${shapeOfOperand(operands[place]).join(', ')}]`);
    }
  });
  const out =
    to === undefined
      ? [
          ...lettersOf(from.includes('...') ? '...' : '', wide, wide),
          ...[...from.replace(/[.,]/g, '')]
            .filter((letter, _, all) => all.filter((one) => one === letter).length === 1)
            .sort()
            .map((letter) => letter.charCodeAt(0)),
        ]
      : lettersOf(to, wide, wide);
  const one: Operand = {
    constant: { name: '', dims: [], dataType: typeOfOperand(operands[0]), values: Float64Array.of(1) },
  };
  return contracted(reader, { a: letters[0], b: letters[1] ?? [], out }, operands[0], operands[1] ?? one);
};

/** Letters by their codes; what an ellipsis stands for below 0, counted from the right. */
function lettersOf(name: string, rank: number, wide: number): number[] {
  const [before, after] = name.split('...');
  const codes = (text: string): number[] => Array.from(text, (letter) => letter.charCodeAt(0));
  if (after === undefined) return codes(name);
  return [
    ...codes(before),
    ...Array.from({ length: rank }, (_, k) => -1 - (wide - rank + k)),
    ...codes(after),
  ];
}

/** The discrete Fourier transform as a product with its matrix; the last extent is the real and the imaginary part. */
const fourier: Translate = (reader) => {
  const x = reader.numeric(0);
  const shape = shapeOfOperand(x);
  const parts = shape[shape.length - 1];
  if (parts !== 1 && parts !== 2) reader.invalid(`the last extent is ${parts}, expected 1 or 2`);
  const given =
    reader.optional(2) === undefined
      ? reader.integer('axis', reader.opset < 20 ? 1 : -2)
      : reader.constant(2).values[0];
  const axis = reader.ownAxis(given, x);
  const inverse = reader.integer('inverse', 0) !== 0;
  const oneSided = reader.integer('onesided', 0) !== 0;
  const length = reader.optional(1) === undefined ? shape[axis] : reader.constant(1).values[0];
  if (inverse && oneSided) reader.refuse('onesided=1 with inverse=1 is not supported');
  const bins = oneSided ? Math.floor(length / 2) + 1 : length;
  if (shape[axis] * parts * bins > 2 ** 24) reader.refuse(`a transform of ${length} elements is too long`);
  const matrix = new Float64Array(shape[axis] * parts * bins * 2);
  for (let n = 0; n < Math.min(shape[axis], length); n++) {
    for (let part = 0; part < parts; part++) {
      for (let bin = 0; bin < bins; bin++) {
        const angle = ((inverse ? 2 : -2) * Math.PI * ((n * bin) % length)) / length;
        const scale = inverse ? 1 / length : 1;
        const [real, imaginary] =
          part === 0 ? [Math.cos(angle), Math.sin(angle)] : [-Math.sin(angle), Math.cos(angle)];
        const at = ((n * parts + part) * bins + bin) * 2;
        matrix[at] = scale * real;
        matrix[at + 1] = scale * imaginary;
      }
    }
  }
  const dims = [shape[axis], parts, bins, 2];
  const [TERM, PART, BIN, RESULT] = [1000, 1001, 1002, 1003];
  const a = shape.map((_, k) => (k === axis ? TERM : k === shape.length - 1 ? PART : k));
  const out = shape.map((_, k) => (k === axis ? BIN : k === shape.length - 1 ? RESULT : k));
  const table: Operand = { constant: { name: '', dims, dataType: typeOfOperand(x), values: matrix } };
  return contracted(reader, { a, b: [TERM, PART, BIN, RESULT], out }, x, table);
};

/** Whole numbers less their zero points, multiplied. */
const matMulInteger: Translate = (reader) => {
  const [a, b] = [0, 1].map((place) =>
    shifted(reader, reader.numeric(place), reader.optionalOperand(2 + place), place === 0),
  );
  const product = operandOf(reader, matrixProduct(reader, a, b));
  return castTo(reader, product, 6);
};

/** Whole numbers as floats, less a zero point: of a row each for the left side where there are several. */
function shifted(reader: NodeReader, operand: Operand, zero: Operand | undefined, isLeft: boolean): Operand {
  const numbers = castTo(reader, operand, FLOAT);
  if (zero === undefined) return numbers;
  const point = castTo(reader, zero, FLOAT);
  const isRow = isLeft && shapeOfOperand(point).length === 1 && shapeOfOperand(point)[0] > 1;
  const column: Operand =
    isRow && 'constant' in point
      ? { constant: { ...point.constant, dims: [...point.constant.dims, 1] } }
      : point;
  return operandOf(reader, pairOf(reader, 'subtract', numbers, column));
}

export const PRODUCTS: OperatorTable = {
  Gemm: { translate: gemm },
  MatMul: { translate: matMul },
  MatMulInteger: { translate: matMulInteger },
  Einsum: { translate: einsum, limits: 'of one or two inputs' },
  DFT: { translate: fourier, limits: 'of a constant length; not inverse and onesided at once' },
};
