import {
  addPoolPlaces,
  addResampledAxis,
  addTransposedConvolution,
  addWindowedConvolution,
  addWindowedPool,
  type POOLS,
  type Resampling,
  type WindowShape,
} from '../../layers/windowLayers.js';
import { constantSource } from '../../layers/sources.js';
import {
  batchOfOperand,
  elementsOfShape,
  shapeOfOperand,
  typeOfOperand,
  type NodeInput,
  type Operand,
} from '../graphValues.js';
import type { NodeReader } from '../nodeReader.js';
import { FLOAT, FLOAT16, INT64, elementOfType } from '../tensorValues.js';
import type { OperatorTable, Translate } from '../translation.js';
import { slidingAxes, slidingBack, type SlidingAxis } from '../windows.js';
import { castTo, operandOf, pairOf } from './elementwise.js';
import { assembled, concatenated } from './movement.js';
import { stridesOf } from '../../geometry.js';
import { reduced } from './reductions.js';
import { resamplingOf, type ResizeOptions } from '../resampling.js';

type Three = readonly [number, number, number];

function three(list: readonly number[], otherwise: number): Three {
  const padded = [...new Array<number>(3 - list.length).fill(otherwise), ...list];
  return [padded[0], padded[1], padded[2]];
}

/** [batch, channels, one to three more], the batch first or none. */
function imageOf(reader: NodeReader, operand: Operand): { channels: number; image: readonly number[] } {
  const [, channels, ...image] = shapeOfOperand(operand);
  const axis = batchOfOperand(operand)?.axis ?? 0;
  if (image.length < 1 || image.length > 3 || axis !== 0) {
    reader.refuse(
      `values of the shape [${shapeOfOperand(operand).join(', ')}], only [batch, channels, and one to three more] is supported`,
    );
  }
  return { channels, image };
}

/** Where there is no batch, images behind one another are many items of one query: they are channels of groups then. */
function isWhole(operand: Operand): boolean {
  return shapeOfOperand(operand)[0] !== 1;
}

/** A convolution of several images in one query: image after image. */
function eachImage(reader: NodeReader, x: Operand, one: (image: Operand) => NodeInput): NodeInput {
  if (!isWhole(x)) return one(x);
  const [count] = shapeOfOperand(x);
  const parts = Array.from({ length: count }, (_, k) => operandOf(reader, one(partOf(reader, x, k))));
  return concatenated(reader, parts, 0);
}

function partOf(reader: NodeReader, x: Operand, place: number): Operand {
  const shape = [1, ...shapeOfOperand(x).slice(1)];
  const strides = stridesOf(shapeOfOperand(x));
  return operandOf(
    reader,
    assembled(reader, shape, batchOfOperand(x), [
      {
        operand: x,
        extents: shape,
        from: { start: place * strides[0], strides },
        to: { start: 0, strides: stridesOf(shape) },
      },
    ]),
  );
}

const convolution: Translate = (reader) => {
  const [x, w] = [reader.numeric(0), reader.numeric(1)];
  reader.commonType([x, w]);
  return convolved(reader, x, w, reader.optionalOperand(2));
};

/** A convolution, its attributes those of the node. */
export function convolved(reader: NodeReader, x: Operand, w: Operand, bias: Operand | undefined): NodeInput {
  const { channels, image } = imageOf(reader, x);
  const [outputs, inputs, ...kernel] = shapeOfOperand(w);
  if (kernel.length !== image.length) {
    reader.invalid(
      `W has the shape [${shapeOfOperand(w).join(', ')}], X has ${image.length} dimensions of pixels`,
    );
  }
  const groups = reader.integer('group', 1);
  if (inputs * groups !== channels || outputs % groups !== 0) {
    reader.invalid(`W takes ${inputs} channels in each of ${groups} groups, X has ${channels}`);
  }
  if (batchOfOperand(w) !== undefined || batchOfOperand(bias ?? w) !== undefined) {
    reader.refuseMixing('weights with a batch');
  }
  if (bias !== undefined && elementsOfShape(shapeOfOperand(bias)) !== outputs) {
    reader.invalid(`B has ${elementsOfShape(shapeOfOperand(bias))} values, W makes ${outputs} channels`);
  }
  const axes = slidingAxes(reader, image, kernel, 0);
  const shape = windowShape({ channels, outputs, groups }, image, kernel, axes);
  const dataType = typeOfOperand('value' in x ? x : w);
  if ('value' in x && 'constant' in w && (bias === undefined || 'constant' in bias) && !isWhole(x)) {
    const result = { ...x.value, shape: [1, outputs, ...axes.map(({ out }) => out)] };
    return reader.resultsOf(
      {
        kind: 'convolution',
        x: x.value,
        weights: w.constant.values,
        bias: bias?.constant.values,
        activation: 'identity',
        shape,
      },
      [result],
    )[0];
  }
  const element = elementOfType(dataType);
  return eachImage(reader, x, (one) => {
    const operands = [one, w, ...(bias === undefined ? [] : [bias])];
    const result = {
      shape: [1, outputs, ...axes.map(({ out }) => out)],
      batch: batchOfOperand(one),
      dataType,
    };
    return reader.result(result, operands, ({ draft, source }) =>
      addWindowedConvolution(
        draft,
        source(one, element),
        source(w, element),
        bias === undefined
          ? constantSource(draft, 'filterBias', new Float64Array(outputs), element)
          : source(bias, element),
        shape,
        'identity',
      ),
    );
  });
}

function windowShape(
  counts: Pick<WindowShape, 'channels' | 'outputs' | 'groups'>,
  image: readonly number[],
  kernel: readonly number[],
  axes: readonly SlidingAxis[],
): WindowShape {
  const of = (read: (axis: SlidingAxis) => number, otherwise: number): Three =>
    three(axes.map(read), otherwise);
  return {
    ...counts,
    image: three(image, 1),
    window: three(kernel, 1),
    strides: of(({ stride }) => stride, 1),
    dilations: of(({ dilation }) => dilation, 1),
    pads: of(({ before }) => before, 0),
    reach: of(({ after }) => after, 0),
    out: of(({ out }) => out, 1),
  };
}

const transposedConvolution: Translate = (reader) => {
  const [x, w] = [reader.numeric(0), reader.numeric(1)];
  const bias = reader.optionalOperand(2);
  if (reader.commonType([x, w]) !== FLOAT && typeOfOperand(x) !== FLOAT16)
    reader.refuse('only float is supported: cast to float');
  const { channels, image } = imageOf(reader, x);
  const [inputs, each, ...kernel] = shapeOfOperand(w);
  const groups = reader.integer('group', 1);
  if (inputs !== channels || kernel.length !== image.length) {
    reader.invalid(`W has the shape [${shapeOfOperand(w).join(', ')}], X has ${channels} channels`);
  }
  if (batchOfOperand(w) !== undefined) reader.refuseMixing('weights with a batch');
  const outputs = each * groups;
  const axes = slidingBack(reader, image, kernel);
  const shape = windowShape({ channels, outputs, groups }, image, kernel, axes);
  const extents = [1, outputs, ...axes.map(({ out }) => out)];
  return eachImage(reader, x, (one) => {
    const operands = [one, w, ...(bias === undefined ? [] : [bias])];
    const result = { shape: extents, batch: batchOfOperand(one), dataType: typeOfOperand(x) };
    return reader.result(result, operands, ({ draft, source }) =>
      addTransposedConvolution(
        draft,
        source(one),
        source(w, 'f32'),
        bias === undefined
          ? constantSource(draft, 'filterBias', new Float64Array(outputs), 'f32')
          : source(bias, 'f32'),
        shape,
      ),
    );
  });
};

/** Pools see each channel by itself: those of several images are channels, too. */
function pooled(reader: NodeReader, kind: keyof typeof POOLS, withPlaces: boolean): readonly NodeInput[] {
  const given = reader.numeric(0);
  const dataType = typeOfOperand(given);
  const x = castTo(reader, given, FLOAT);
  const { image } = imageOf(reader, x);
  const [images, channels] = shapeOfOperand(x);
  const kernel = reader.integerList('kernel_shape') ?? reader.invalid('kernel_shape is missing');
  if (kernel.length !== image.length)
    reader.invalid(`kernel_shape has ${kernel.length} values, expected ${image.length}`);
  const axes = slidingAxes(reader, image, kernel, reader.integer('ceil_mode', 0));
  const all = images * channels;
  const shape = windowShape({ channels: all, outputs: all, groups: all }, image, kernel, axes);
  const extents = [images, channels, ...axes.map(({ out }) => out)];
  const batch = batchOfOperand(x);
  const power = reader.integer('p', 2);
  const values = reader.result({ shape: extents, batch, dataType: FLOAT }, [x], ({ draft, source }) =>
    addWindowedPool(draft, source(x, 'f32'), shape, kind, power),
  );
  const result = castTo(reader, operandOf(reader, values), dataType);
  if (!withPlaces) return [result];
  if (batch !== undefined) reader.refuseMixing('the output Indices, places within the whole batch,');
  const byColumns = reader.integer('storage_order', 0) === 1;
  const places = reader.result({ shape: extents, batch, dataType: INT64 }, [x], ({ draft, source }) =>
    addPoolPlaces(draft, source(x, 'f32'), shape, byColumns),
  );
  return [result, places];
}

const maxPool: Translate = (reader) => pooled(reader, 'largest', reader.hasOutput(1));

const averagePool: Translate = (reader) =>
  pooled(reader, reader.integer('count_include_pad', 0) === 1 ? 'meanPadded' : 'meanInside', false);

const lpPool: Translate = (reader) => pooled(reader, 'powers', false);

const globalPool =
  (kind: 'mean' | 'largest'): Translate =>
  (reader) => {
    const x = reader.numeric(0);
    const { image } = imageOf(reader, x);
    return reduced(
      reader,
      x,
      kind,
      image.map((_, k) => k + 2),
      true,
    );
  };

/** Whole numbers less their zero points, convolved. */
const convInteger: Translate = (reader) => {
  const [x, w] = [0, 1].map((place) => {
    const numbers = castTo(reader, reader.numeric(place), FLOAT);
    const zero = reader.optionalOperand(2 + place);
    if (zero === undefined) return numbers;
    const point = castTo(reader, zero, FLOAT);
    return operandOf(reader, pairOf(reader, 'subtract', numbers, point));
  });
  return castTo(reader, operandOf(reader, convolved(reader, x, w, undefined)), 6);
};

/** Resize, and Upsample as older operator sets have it: axis after axis. */
const resize: Translate = (reader) => {
  const given = reader.numeric(0);
  const dataType = typeOfOperand(given);
  const x = castTo(reader, given, FLOAT);
  const shape = shapeOfOperand(x);
  const options = resizeOptions(reader, shape);
  let result = x;
  let extents = shape;
  options.forEach((option, axis) => {
    if (option === undefined) return;
    if (batchOfOperand(x)?.axis === axis) reader.refuseMixing(`resizing axis ${axis}`);
    const resampling = resamplingOf(option);
    extents = extents.map((extent, k) => (k === axis ? option.out : extent));
    result = operandOf(reader, resizedAxis(reader, result, extents, axis, resampling, option));
  });
  return castTo(reader, result, dataType);
};

function resizedAxis(
  reader: NodeReader,
  x: Operand,
  extents: readonly number[],
  axis: number,
  resampling: Resampling,
  { extent, out, otherwise }: ResizeOptions,
): NodeInput {
  const [outer, inner] = [elementsOfShape(extents.slice(0, axis)), elementsOfShape(extents.slice(axis + 1))];
  return reader.result(
    { shape: extents, batch: batchOfOperand(x), dataType: FLOAT },
    [x],
    ({ draft, source }) =>
      addResampledAxis(draft, source(x, 'f32'), { outer, extent, out, inner }, resampling, otherwise),
  );
}

/** For each axis how it is resized; undefined: it stays. */
function resizeOptions(reader: NodeReader, shape: readonly number[]): readonly (ResizeOptions | undefined)[] {
  const isUpsample = reader.node.opType === 'Upsample';
  const isOld = isUpsample || reader.opset < 11;
  const [scalesPlace, sizesPlace, roiPlace] = isOld ? [1, 9, 9] : [2, 3, 1];
  const listed = (place: number): readonly number[] => {
    const input = reader.optional(place);
    return input === undefined ? [] : Array.from(reader.constant(place).values);
  };
  const scales =
    isUpsample && reader.optional(1) === undefined ? reader.floats('scales') : listed(scalesPlace);
  const sizes = listed(sizesPlace);
  const axes = (reader.integerList('axes') ?? shape.map((_, axis) => axis)).map((axis) =>
    reader.axis(axis, shape.length),
  );
  const count = sizes.length > 0 ? sizes.length : scales.length;
  if (count !== axes.length) reader.invalid(`${count} scales or sizes of ${axes.length} axes`);
  const roi = listed(roiPlace);
  const policy = reader.text('keep_aspect_ratio_policy', 'stretch');
  const mode = reader.text('mode', 'nearest').replace('bilinear', 'linear');
  if (mode !== 'nearest' && mode !== 'linear' && mode !== 'cubic')
    reader.refuse(`mode '${mode}' is not supported`);
  const ratios = sizes.map((size, k) => size / shape[axes[k]]);
  const ratio = policy === 'not_larger' ? Math.min(...ratios) : Math.max(...ratios);
  const result = new Array<ResizeOptions | undefined>(shape.length).fill(undefined);
  axes.forEach((axis, k) => {
    const extent = shape[axis];
    const isKept = sizes.length > 0 && policy !== 'stretch';
    const scale = isKept ? ratio : sizes.length > 0 ? sizes[k] / extent : scales[k];
    const out = isKept
      ? Math.floor(ratio * extent + 0.5)
      : sizes.length > 0
        ? sizes[k]
        : Math.floor(extent * scale);
    if (!(out >= 1 && out <= 2 ** 16)) reader.invalid(`axis ${axis} becomes ${out} elements`);
    const transformation = isOld ? 'asymmetric' : reader.text('coordinate_transformation_mode', 'half_pixel');
    const isCropped = transformation === 'tf_crop_and_resize';
    if (out === extent && scale === 1 && !isCropped) return;
    if (isCropped && out === extent && roi[k] === 0 && roi[k + axes.length] === 1) return;
    result[axis] = {
      extent,
      out,
      scale,
      mode,
      transformation,
      nearest: isOld ? 'floor' : reader.text('nearest_mode', 'round_prefer_floor'),
      cubic: reader.float('cubic_coeff_a', -0.75),
      excludesOutside: reader.integer('exclude_outside', 0) === 1,
      antialias: reader.integer('antialias', 0) === 1,
      crop: [roi[k] ?? 0, roi[k + axes.length] ?? 1],
      otherwise: reader.float('extrapolation_value', 0),
    };
  });
  return result;
}

export const WINDOWS: OperatorTable = {
  Conv: { translate: convolution, limits: 'one to three dimensions' },
  ConvTranspose: { translate: transposedConvolution, limits: 'one to three dimensions, float' },
  ConvInteger: { translate: convInteger },
  MaxPool: { translate: maxPool, limits: 'one to three dimensions; Indices without a batch' },
  AveragePool: { translate: averagePool, limits: 'one to three dimensions' },
  LpPool: { translate: lpPool, limits: 'one to three dimensions' },
  GlobalMaxPool: { translate: globalPool('largest') },
  GlobalAveragePool: { translate: globalPool('mean') },
  Resize: { translate: resize, limits: 'constant scales or sizes' },
  Upsample: { translate: resize, limits: 'constant scales' },
};
