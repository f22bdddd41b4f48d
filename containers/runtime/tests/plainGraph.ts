import { MATH_FUNCTIONS, type ModelSpec, type NodeSpec } from '../../models/testing/index.js';

/** An array by its extents, row by row. */
export interface PlainArray {
  readonly dims: readonly number[];
  readonly values: ArrayLike<number>;
}

/**
 * What the operators of the networks in `networks.ts` compute, written as their definitions are, with loops over all extents
 * (the batch among them): the reference of what imports compute.
 */
export function evaluateGraph(
  spec: ModelSpec,
  inputs: Readonly<Record<string, PlainArray>>,
): readonly PlainArray[] {
  const known = new Map<string, PlainArray>(Object.entries(inputs));
  for (const [name, { dims, values }] of Object.entries(spec.initializers ?? {}))
    known.set(name, { dims, values });
  const find = (name: string): PlainArray => {
    const array = known.get(name);
    if (array === undefined) throw new Error(`there is no '${name}'`);
    return array;
  };
  for (const node of spec.nodes) known.set(node.output, compute(node, node.inputs.map(find)));
  return (spec.outputs ?? ['y']).map(find);
}

function compute(node: NodeSpec, inputs: readonly PlainArray[]): PlainArray {
  const [x, second, third] = inputs;
  switch (node.op) {
    case 'Conv':
      return convolution(node, x, second, third);
    case 'BatchNormalization':
      return batchNormalization(inputs);
    case 'MaxPool':
      return maxPool(node, x);
    case 'GlobalAveragePool':
      return globalMean(x);
    case 'Relu':
      return each(x, (value) => Math.max(value, 0));
    case 'Clip':
      return each(x, (value) => Math.min(Math.max(value, second.values[0]), third.values[0]));
    case 'Erf':
      return each(x, (value) => MATH_FUNCTIONS.erf(value, 0, 0));
    case 'Tanh':
      return each(x, Math.tanh);
    case 'Sqrt':
      return each(x, Math.sqrt);
    case 'Cast':
      return x;
    case 'Add':
      return broadcast(x, second, (a, b) => a + b);
    case 'Sub':
      return broadcast(x, second, (a, b) => a - b);
    case 'Mul':
      return broadcast(x, second, (a, b) => a * b);
    case 'Div':
      return broadcast(x, second, (a, b) => a / b);
    case 'Pow':
      return broadcast(x, second, (a, b) => a ** b);
    case 'MatMul':
      return matrices(x, second);
    case 'Gemm':
      return gemm(node, x, second, third);
    case 'ReduceMean':
      return lastMean(x);
    case 'Softmax':
      return lastSoftmax(x);
    case 'Transpose':
      return transpose(x, node.attributes?.perm as readonly number[]);
    case 'Reshape':
      return { dims: filled(x, Array.from(second.values)), values: x.values };
    case 'Concat':
      return concatenated(inputs, node.attributes?.axis as number);
    case 'Flatten':
      return { dims: [x.dims[0], size(x.dims.slice(1))], values: x.values };
    case 'Unsqueeze':
      return {
        dims: Array.from(second.values).reduce(
          (dims, axis) => [...dims.slice(0, axis), 1, ...dims.slice(axis)],
          [...x.dims],
        ),
        values: x.values,
      };
    case 'Gather':
      return gather(x, second, (node.attributes?.axis as number | undefined) ?? 0);
    default:
      throw new Error(`the reference has no ${node.op}`);
  }
}

function size(dims: readonly number[]): number {
  return dims.reduce((product, extent) => product * extent, 1);
}

function each({ dims, values }: PlainArray, change: (value: number) => number): PlainArray {
  return { dims, values: Float64Array.from(values, change) };
}

function offset(dims: readonly number[], at: readonly number[]): number {
  return dims.reduce((sum, extent, axis) => sum * extent + at[axis], 0);
}

function made(dims: readonly number[], value: (at: readonly number[]) => number): PlainArray {
  const values = new Float64Array(size(dims));
  const at = dims.map(() => 0);
  for (let index = 0; index < values.length; index++) {
    values[index] = value(at);
    for (let axis = dims.length - 1; axis >= 0 && ++at[axis] === dims[axis]; axis--) at[axis] = 0;
  }
  return { dims, values };
}

function broadcast(a: PlainArray, b: PlainArray, join: (a: number, b: number) => number): PlainArray {
  const rank = Math.max(a.dims.length, b.dims.length);
  const wide = (dims: readonly number[]): number[] => [
    ...new Array<number>(rank - dims.length).fill(1),
    ...dims,
  ];
  const [left, right] = [wide(a.dims), wide(b.dims)];
  const dims = left.map((extent, axis) => Math.max(extent, right[axis]));
  const read = ({ values }: PlainArray, own: readonly number[], at: readonly number[]): number =>
    values[
      offset(
        own,
        at.map((place, axis) => (own[axis] === 1 ? 0 : place)),
      )
    ];
  return made(dims, (at) => join(read(a, left, at), read(b, right, at)));
}

function convolution(node: NodeSpec, x: PlainArray, w: PlainArray, bias: PlainArray | undefined): PlainArray {
  const strides = (node.attributes?.strides as readonly number[] | undefined) ?? [1, 1];
  const pads = (node.attributes?.pads as readonly number[] | undefined) ?? [0, 0, 0, 0];
  const groups = (node.attributes?.group as number | undefined) ?? 1;
  const [images, , height, width] = x.dims;
  const [outputs, channels, rows, columns] = w.dims;
  const out = (extent: number, window: number, axis: number): number =>
    Math.floor((extent + pads[axis] + pads[axis + 2] - window) / strides[axis]) + 1;
  const dims = [images, outputs, out(height, rows, 0), out(width, columns, 1)];
  return made(dims, ([image, output, row, column]) => {
    const first = Math.floor(output / (outputs / groups)) * channels;
    let sum = bias?.values[output] ?? 0;
    for (let channel = 0; channel < channels; channel++) {
      for (let ky = 0; ky < rows; ky++) {
        for (let kx = 0; kx < columns; kx++) {
          const [iy, ix] = [row * strides[0] + ky - pads[0], column * strides[1] + kx - pads[1]];
          if (iy < 0 || ix < 0 || iy >= height || ix >= width) continue;
          sum +=
            x.values[offset(x.dims, [image, first + channel, iy, ix])] *
            w.values[offset(w.dims, [output, channel, ky, kx])];
        }
      }
    }
    return sum;
  });
}

function batchNormalization([x, scale, bias, mean, variance]: readonly PlainArray[]): PlainArray {
  return made(x.dims, (at) => {
    const channel = at[1];
    const deviation = Math.sqrt(variance.values[channel] + 1e-5);
    return (
      ((x.values[offset(x.dims, at)] - mean.values[channel]) / deviation) * scale.values[channel] +
      bias.values[channel]
    );
  });
}

function maxPool(node: NodeSpec, x: PlainArray): PlainArray {
  const [kernel, strides, pads] = ['kernel_shape', 'strides', 'pads'].map(
    (name) => node.attributes?.[name] as readonly number[],
  );
  const [images, channels, height, width] = x.dims;
  const out = (extent: number, axis: number): number =>
    Math.floor((extent + pads[axis] + pads[axis + 2] - kernel[axis]) / strides[axis]) + 1;
  return made([images, channels, out(height, 0), out(width, 1)], ([image, channel, row, column]) => {
    let largest = -Infinity;
    for (let ky = 0; ky < kernel[0]; ky++) {
      for (let kx = 0; kx < kernel[1]; kx++) {
        const [iy, ix] = [row * strides[0] + ky - pads[0], column * strides[1] + kx - pads[1]];
        if (iy < 0 || ix < 0 || iy >= height || ix >= width) continue;
        largest = Math.max(largest, x.values[offset(x.dims, [image, channel, iy, ix])]);
      }
    }
    return largest;
  });
}

function globalMean(x: PlainArray): PlainArray {
  const [images, channels, ...pixels] = x.dims;
  const count = size(pixels);
  return made([images, channels, 1, 1], ([image, channel]) => {
    let sum = 0;
    for (let pixel = 0; pixel < count; pixel++) sum += x.values[(image * channels + channel) * count + pixel];
    return sum / count;
  });
}

function matrices(a: PlainArray, b: PlainArray): PlainArray {
  const terms = a.dims[a.dims.length - 1];
  const [rows, columns] = [a.dims[a.dims.length - 2], b.dims[b.dims.length - 1]];
  const outer = a.dims.length >= b.dims.length ? a.dims.slice(0, -2) : b.dims.slice(0, -2);
  return made([...outer, rows, columns], (at) => {
    const [before, row, column] = [at.slice(0, -2), at[at.length - 2], at[at.length - 1]];
    let sum = 0;
    for (let k = 0; k < terms; k++) {
      const left = offset(a.dims, [...before.slice(before.length - (a.dims.length - 2)), row, k]);
      const right = offset(b.dims, [...before.slice(before.length - (b.dims.length - 2)), k, column]);
      sum += a.values[left] * b.values[right];
    }
    return sum;
  });
}

function gemm(node: NodeSpec, a: PlainArray, b: PlainArray, c: PlainArray): PlainArray {
  const isTurned = node.attributes?.transB === 1;
  const columns = isTurned ? b.dims[0] : b.dims[1];
  return made([a.dims[0], columns], ([row, column]) => {
    let sum = c.values[column];
    for (let k = 0; k < a.dims[1]; k++) {
      sum +=
        a.values[row * a.dims[1] + k] * b.values[isTurned ? column * a.dims[1] + k : k * columns + column];
    }
    return sum;
  });
}

function lastMean(x: PlainArray): PlainArray {
  const width = x.dims[x.dims.length - 1];
  return made([...x.dims.slice(0, -1), 1], (at) => {
    const start = offset(x.dims, [...at.slice(0, -1), 0]);
    let sum = 0;
    for (let k = 0; k < width; k++) sum += x.values[start + k];
    return sum / width;
  });
}

function lastSoftmax(x: PlainArray): PlainArray {
  const width = x.dims[x.dims.length - 1];
  const values = new Float64Array(x.values.length);
  for (let start = 0; start < values.length; start += width) {
    let largest = -Infinity;
    for (let k = 0; k < width; k++) largest = Math.max(largest, x.values[start + k]);
    let sum = 0;
    for (let k = 0; k < width; k++) sum += values[start + k] = Math.exp(x.values[start + k] - largest);
    for (let k = 0; k < width; k++) values[start + k] /= sum;
  }
  return { dims: x.dims, values };
}

function transpose(x: PlainArray, order: readonly number[]): PlainArray {
  return made(
    order.map((axis) => x.dims[axis]),
    (at) => {
      const from = x.dims.map(() => 0);
      order.forEach((axis, place) => (from[axis] = at[place]));
      return x.values[offset(x.dims, from)];
    },
  );
}

function filled({ dims, values }: PlainArray, wanted: readonly number[]): number[] {
  const shape = wanted.map((extent, axis) => (extent === 0 ? dims[axis] : extent));
  const known = size(shape.filter((extent) => extent !== -1));
  return shape.map((extent) => (extent === -1 ? values.length / known : extent));
}

function gather(x: PlainArray, places: PlainArray, axis: number): PlainArray {
  const { length } = places.dims;
  return made([...x.dims.slice(0, axis), ...places.dims, ...x.dims.slice(axis + 1)], (at) => {
    const place = places.values[offset(places.dims, at.slice(axis, axis + length))];
    return x.values[offset(x.dims, [...at.slice(0, axis), place, ...at.slice(axis + length)])];
  });
}

function concatenated(arrays: readonly PlainArray[], axis: number): PlainArray {
  const dims = arrays[0].dims.map((extent, at) =>
    at === axis ? arrays.reduce((sum, array) => sum + array.dims[axis], 0) : extent,
  );
  return made(dims, (at) => {
    let place = at[axis];
    for (const array of arrays) {
      if (place < array.dims[axis]) return array.values[offset(array.dims, at.with(axis, place))];
      place -= array.dims[axis];
    }
    return NaN;
  });
}
