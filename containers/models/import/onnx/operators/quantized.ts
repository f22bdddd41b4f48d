import {
  elementsOfShape,
  batchOfOperand,
  shapeOfOperand,
  typeOfOperand,
  type Operand,
} from '../graphValues.js';
import type { NodeReader } from '../nodeReader.js';
import { BFLOAT16, FLOAT, FLOAT16, INT32, INT8, UINT8, typeName } from '../tensorValues.js';
import type { OperatorTable, Translate } from '../translation.js';
import { castTo, mathOf, operandOf, pairOf } from './elementwise.js';
import { calculator } from './normalizations.js';
import { matrixProduct } from './products.js';
import { reduced } from './reductions.js';
import { convolved } from './windows.js';

/** The whole numbers of a type. */
const RANGES: Readonly<Record<number, readonly [number, number]>> = {
  [UINT8]: [0, 255],
  [INT8]: [-128, 127],
  4: [0, 65_535],
  5: [-32_768, 32_767],
};

const dequantize: Translate = (reader) => {
  const [x, scale] = [reader.numeric(0), reader.numeric(1)];
  return castTo(
    reader,
    dequantized(reader, x, scale, reader.optionalOperand(2), axisOf(reader)),
    resultType(scale),
  );
};

function resultType(scale: Operand): number {
  const type = typeOfOperand(scale);
  return type === FLOAT16 || type === BFLOAT16 ? type : FLOAT;
}

function axisOf(reader: NodeReader): number {
  if (reader.integer('block_size', 0) !== 0) reader.refuse('block_size is not supported');
  return reader.integer('axis', 1);
}

/** (x - zero point) * scale in single precision. */
function dequantized(
  reader: NodeReader,
  x: Operand,
  scale: Operand,
  zero: Operand | undefined,
  axis: number,
): Operand {
  const [pair] = calculator(reader);
  const numbers = castTo(reader, x, FLOAT);
  const factor = onAxis(reader, castTo(reader, scale, FLOAT), x, axis);
  if (zero === undefined) return pair('multiply', numbers, factor);
  return pair(
    'multiply',
    pair('subtract', numbers, onAxis(reader, castTo(reader, zero, FLOAT), x, axis)),
    factor,
  );
}

/** A scale of each place along an axis, in a shape that goes together with x. */
function onAxis(reader: NodeReader, scale: Operand, x: Operand, given: number): Operand {
  const elements = elementsOfShape(shapeOfOperand(scale));
  const rank = shapeOfOperand(x).length;
  let dims: readonly number[] = [];
  if (elements !== 1 || shapeOfOperand(scale).length > 1) {
    const axis = reader.axis(given, rank);
    if (batchOfOperand(x)?.axis === axis || batchOfOperand(scale) !== undefined)
      reader.refuseMixing('scales along the batch');
    if (elements !== shapeOfOperand(x)[axis])
      reader.invalid(`${elements} scales of ${shapeOfOperand(x)[axis]} places`);
    dims = [elements, ...new Array<number>(rank - 1 - axis).fill(1)];
  }
  return 'constant' in scale
    ? { constant: { ...scale.constant, dims } }
    : { value: { ...scale.value, shape: dims } };
}

const quantize: Translate = (reader) => {
  const zero = reader.optionalOperand(2);
  const type = zero === undefined ? reader.integer('output_dtype', UINT8) || UINT8 : typeOfOperand(zero);
  return quantized(reader, reader.numeric(0), reader.numeric(1), zero, type, axisOf(reader));
};

/** round(x / scale) + zero point, within the range of the type. */
function quantized(
  reader: NodeReader,
  x: Operand,
  scale: Operand,
  zero: Operand | undefined,
  type: number,
  axis: number,
): Operand {
  const range = Object.hasOwn(RANGES, type)
    ? RANGES[type]
    : reader.refuse(`quantised to ${typeName(type)}, only 8 and 16 bits are supported`);
  const [pair, math] = calculator(reader);
  const ratio = pair(
    'divide',
    castTo(reader, x, FLOAT),
    onAxis(reader, castTo(reader, scale, FLOAT), x, axis),
  );
  const rounded = math({ op: 'round' }, ratio);
  const shifted =
    zero === undefined ? rounded : pair('add', rounded, onAxis(reader, castTo(reader, zero, FLOAT), x, axis));
  return castTo(reader, math({ op: 'clip', a: range[0], b: range[1] }, shifted), type);
}

/** To 8 bits by a scale of the values at hand. */
const quantizeDynamically: Translate = (reader) => {
  const x = reader.numeric(0);
  const [pair, math] = calculator(reader);
  const all = shapeOfOperand(x).map((_, axis) => axis);
  const zeroOf = (operand: Operand): Operand =>
    operandOf(reader, mathOf(reader, operand, { op: 'affine', a: 0, b: 0 }));
  const largest = operandOf(reader, reduced(reader, x, 'largest', all, false));
  const smallest = operandOf(reader, reduced(reader, x, 'smallest', all, false));
  const none = zeroOf(largest);
  const [high, low] = [pair('largest', largest, none), pair('smallest', smallest, none)];
  const scale = math({ op: 'affine', a: 1 / 255, b: 0 }, pair('subtract', high, low));
  const point = math(
    { op: 'clip', a: 0, b: 255 },
    math({ op: 'round' }, math({ op: 'negate' }, pair('divide', low, scale))),
  );
  const y = quantized(reader, x, scale, castTo(reader, point, UINT8), UINT8, 0);
  return [y, scale, castTo(reader, point, UINT8)];
};

/** Of quantised matrices: computed in single precision, and quantised again. */
const quantizedProduct: Translate = (reader) => {
  const part = (first: number): Operand =>
    dequantized(
      reader,
      reader.numeric(first),
      reader.numeric(first + 1),
      reader.optionalOperand(first + 2),
      -1,
    );
  const product = operandOf(reader, matrixProduct(reader, part(0), part(3)));
  const zero = reader.operand(7);
  return quantized(reader, product, reader.numeric(6), zero, typeOfOperand(zero), 1);
};

const quantizedConvolution: Translate = (reader) => {
  const x = dequantized(reader, reader.numeric(0), reader.numeric(1), reader.optionalOperand(2), 1);
  const w = dequantized(reader, reader.numeric(3), reader.numeric(4), reader.optionalOperand(5), 0);
  const given = reader.optionalOperand(8);
  let bias: Operand | undefined;
  if (given !== undefined) {
    if (typeOfOperand(given) !== INT32)
      reader.invalid(`B is ${typeName(typeOfOperand(given))}, expected int32`);
    const scale = operandOf(
      reader,
      pairOf(
        reader,
        'multiply',
        castTo(reader, reader.numeric(1), FLOAT),
        castTo(reader, reader.numeric(4), FLOAT),
      ),
    );
    bias = dequantized(reader, given, scale, undefined, 0);
  }
  const zero = reader.operand(7);
  const sum = operandOf(reader, convolved(reader, x, w, bias));
  return quantized(reader, sum, reader.numeric(6), zero, typeOfOperand(zero), 1);
};

export const QUANTIZED: OperatorTable = {
  QuantizeLinear: { translate: quantize, limits: '8 and 16 bits, no blocks' },
  DequantizeLinear: { translate: dequantize, limits: 'no blocks' },
  DynamicQuantizeLinear: { translate: quantizeDynamically, limits: 'of one query: not over the batch' },
  QLinearMatMul: { translate: quantizedProduct, limits: 'computed in single precision' },
  QLinearConv: { translate: quantizedConvolution, limits: 'computed in single precision' },
};
