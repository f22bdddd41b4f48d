import { DenseLayer } from '../denseLayer.js';
import type { Draws } from '../draws.js';
import { planeShapes, type ImageDesign, type ImageLayer, type PlaneShape } from './imageDesign.js';

/** What a layer gives for one image, and the loss's gradient there. */
export class Plane {
  readonly values: Float32Array;
  readonly gradients: Float32Array;

  constructor(readonly shape: PlaneShape) {
    const count = shape.rows * shape.columns * shape.channels;
    this.values = new Float32Array(count);
    this.gradients = new Float32Array(count);
  }
}

/** One layer at work. */
export interface ImageStep {
  readonly weights?: DenseLayer;
  forward(): void;
  /** From the gradients of what it gives to those of what it takes, which it adds to, and of its weights. */
  backward(): void;
}

/** Planes of the image and of every layer, and the layers' steps in order. */
export function imageSteps(
  design: ImageDesign,
  draws: Draws,
): { readonly planes: readonly Plane[]; readonly steps: readonly ImageStep[] } {
  const planes = planeShapes(design).map((shape) => new Plane(shape));
  const steps = design.layers.map((layer, at) => stepOf(layer, planes, planes[at + 1], draws));
  return { planes, steps };
}

function stepOf(layer: ImageLayer, planes: readonly Plane[], to: Plane, draws: Draws): ImageStep {
  switch (layer.kind) {
    case 'convolution':
      return new Convolution(layer, planes[layer.from], to, draws);
    case 'dense':
      return new Dense(planes[layer.from], to, layer.isRectified, draws);
    case 'largest':
      return new Largest(planes[layer.from], to, layer.size, layer.stride);
    case 'mean':
      return new Mean(planes[layer.from], to);
    case 'sum':
      return new Sum(planes[layer.from[0]], planes[layer.from[1]], to);
    case 'joined':
      return new Joined(
        layer.from.map((from) => planes[from]),
        to,
      );
  }
}

function rectify(values: Float32Array): void {
  for (let k = 0; k < values.length; k++) if (values[k] < 0) values[k] = 0;
}

function stopWhereRectified({ values, gradients }: Plane): void {
  for (let k = 0; k < values.length; k++) if (values[k] <= 0) gradients[k] = 0;
}

/** A dense layer over the window around each pixel: weights `[kernel rows][kernel columns][channels][outputs]`. */
class Convolution implements ImageStep {
  readonly weights: DenseLayer;

  constructor(
    private readonly layer: Extract<ImageLayer, { readonly kind: 'convolution' }>,
    private readonly from: Plane,
    private readonly to: Plane,
    draws: Draws,
  ) {
    const [high, wide] = layer.kernel;
    this.weights = new DenseLayer(high * wide * from.shape.channels, layer.channels, draws);
  }

  forward(): void {
    const { from, to, weights: dense } = this;
    const { weights, biases, outputs } = dense;
    const input = from.values;
    const result = to.values;
    for (let at = 0; at < result.length; at += outputs) result.set(biases, at);
    this.eachRun((inputAt, weightsAt, length, resultAt) => {
      for (let k = 0; k < length; k++) {
        const value = input[inputAt + k];
        if (value === 0) continue;
        const row = weightsAt + k * outputs;
        for (let o = 0; o < outputs; o++) result[resultAt + o] += value * weights[row + o];
      }
    });
    if (this.layer.isRectified) rectify(result);
  }

  backward(): void {
    const { from, to, weights: dense } = this;
    const { weights, weightGradients, biasGradients, outputs } = dense;
    if (this.layer.isRectified) stopWhereRectified(to);
    const input = from.values;
    const inputGradients = from.gradients;
    const gradients = to.gradients;
    for (let at = 0; at < gradients.length; at += outputs) {
      for (let o = 0; o < outputs; o++) biasGradients[o] += gradients[at + o];
    }
    this.eachRun((inputAt, weightsAt, length, resultAt) => {
      for (let k = 0; k < length; k++) {
        const value = input[inputAt + k];
        const row = weightsAt + k * outputs;
        let sum = 0;
        for (let o = 0; o < outputs; o++) {
          const gradient = gradients[resultAt + o];
          sum += gradient * weights[row + o];
          weightGradients[row + o] += gradient * value;
        }
        inputGradients[inputAt + k] += sum;
      }
    });
  }

  /** Each row of each window: a run of input values, and of weights' rows, that meet in one result. */
  private eachRun(
    meet: (inputAt: number, weightsAt: number, length: number, resultAt: number) => void,
  ): void {
    const { rows, columns, channels } = this.from.shape;
    const { shape } = this.to;
    const { kernel, stride } = this.layer;
    const [high, wide] = kernel;
    const outputs = shape.channels;
    for (let y = 0; y < shape.rows; y++) {
      for (let x = 0; x < shape.columns; x++) {
        const resultAt = (y * shape.columns + x) * outputs;
        const left = x * stride - (wide >> 1);
        const first = Math.max(0, -left);
        const last = Math.min(wide, columns - left);
        for (let ky = 0; ky < high; ky++) {
          const row = y * stride - (high >> 1) + ky;
          if (row < 0 || row >= rows) continue;
          const inputAt = (row * columns + left + first) * channels;
          const weightsAt = (ky * wide + first) * channels * outputs;
          meet(inputAt, weightsAt, (last - first) * channels, resultAt);
        }
      }
    }
  }
}

class Dense implements ImageStep {
  readonly weights: DenseLayer;
  private readonly inputGradients: Float32Array;

  constructor(
    private readonly from: Plane,
    private readonly to: Plane,
    private readonly isRectified: boolean,
    draws: Draws,
  ) {
    this.weights = new DenseLayer(from.values.length, to.values.length, draws);
    this.inputGradients = new Float32Array(from.values.length);
  }

  forward(): void {
    this.weights.forward(this.from.values, this.to.values);
    if (this.isRectified) rectify(this.to.values);
  }

  backward(): void {
    if (this.isRectified) stopWhereRectified(this.to);
    this.weights.accumulate(this.from.values, this.to.gradients);
    this.weights.backward(this.to.gradients, this.inputGradients);
    for (let k = 0; k < this.inputGradients.length; k++) this.from.gradients[k] += this.inputGradients[k];
  }
}

class Largest implements ImageStep {
  /** Where each result came from. */
  private readonly sources: Int32Array;

  constructor(
    private readonly from: Plane,
    private readonly to: Plane,
    private readonly size: number,
    private readonly stride: number,
  ) {
    this.sources = new Int32Array(to.values.length);
  }

  forward(): void {
    const { rows, columns, channels } = this.from.shape;
    const { shape, values } = this.to;
    const input = this.from.values;
    const pad = this.size >> 1;
    let at = 0;
    for (let y = 0; y < shape.rows; y++) {
      const top = y * this.stride - pad;
      for (let x = 0; x < shape.columns; x++) {
        const left = x * this.stride - pad;
        for (let c = 0; c < channels; c++, at++) {
          let source = -1;
          for (let row = Math.max(0, top); row < Math.min(rows, top + this.size); row++) {
            for (let column = Math.max(0, left); column < Math.min(columns, left + this.size); column++) {
              const place = (row * columns + column) * channels + c;
              if (source < 0 || input[place] > input[source]) source = place;
            }
          }
          this.sources[at] = source;
          values[at] = input[source];
        }
      }
    }
  }

  backward(): void {
    const { gradients } = this.to;
    for (let at = 0; at < gradients.length; at++) this.from.gradients[this.sources[at]] += gradients[at];
  }
}

class Mean implements ImageStep {
  constructor(
    private readonly from: Plane,
    private readonly to: Plane,
  ) {}

  forward(): void {
    const { values } = this.to;
    const input = this.from.values;
    values.fill(0);
    for (let k = 0; k < input.length; k++) values[k % values.length] += input[k];
    const pixels = input.length / values.length;
    for (let c = 0; c < values.length; c++) values[c] /= pixels;
  }

  backward(): void {
    const { gradients } = this.to;
    const { length } = this.from.gradients;
    const share = gradients.length / length;
    for (let k = 0; k < length; k++) this.from.gradients[k] += gradients[k % gradients.length] * share;
  }
}

class Sum implements ImageStep {
  constructor(
    private readonly one: Plane,
    private readonly other: Plane,
    private readonly to: Plane,
  ) {}

  forward(): void {
    const { values } = this.to;
    for (let k = 0; k < values.length; k++) values[k] = this.one.values[k] + this.other.values[k];
    rectify(values);
  }

  backward(): void {
    stopWhereRectified(this.to);
    const { gradients } = this.to;
    for (let k = 0; k < gradients.length; k++) {
      this.one.gradients[k] += gradients[k];
      this.other.gradients[k] += gradients[k];
    }
  }
}

class Joined implements ImageStep {
  constructor(
    private readonly from: readonly Plane[],
    private readonly to: Plane,
  ) {}

  forward(): void {
    this.each(({ values }, place, at, channels) => {
      for (let c = 0; c < channels; c++) this.to.values[at + c] = values[place + c];
    });
  }

  backward(): void {
    this.each(({ gradients }, place, at, channels) => {
      for (let c = 0; c < channels; c++) gradients[place + c] += this.to.gradients[at + c];
    });
  }

  /** The channels of each pixel of each plane, and where they lie in what they are joined to. */
  private each(move: (plane: Plane, place: number, at: number, channels: number) => void): void {
    const { rows, columns, channels: all } = this.to.shape;
    let offset = 0;
    for (const plane of this.from) {
      const { channels } = plane.shape;
      for (let pixel = 0; pixel < rows * columns; pixel++) {
        move(plane, pixel * channels, pixel * all + offset, channels);
      }
      offset += channels;
    }
  }
}
