/**
 * A small network for images as data. A layer is named by its place; 0 is the image, the first layer is 1, and the last one gives
 * the scores of the classes. Planes of values lie row by row, each pixel's channels together.
 */
export interface ImageDesign {
  readonly image: PlaneShape;
  readonly layers: readonly ImageLayer[];
}

export interface PlaneShape {
  readonly rows: number;
  readonly columns: number;
  readonly channels: number;
}

export type ImageLayer =
  | {
      readonly kind: 'convolution';
      readonly from: number;
      readonly channels: number;
      /** Rows and columns of the kernel, both odd; the image is padded by half of it. */
      readonly kernel: readonly [rows: number, columns: number];
      readonly stride: number;
      readonly isRectified: boolean;
    }
  | {
      readonly kind: 'dense';
      readonly from: number;
      readonly units: number;
      readonly isRectified: boolean;
    }
  /** Padded by half of its size, rounded down. */
  | { readonly kind: 'largest'; readonly from: number; readonly size: number; readonly stride: number }
  /** Of each channel, over the plane. */
  | { readonly kind: 'mean'; readonly from: number }
  /** Rectified. */
  | { readonly kind: 'sum'; readonly from: readonly [number, number] }
  /** Channels one behind the other. */
  | { readonly kind: 'joined'; readonly from: readonly number[] };

/** Puts a design together: every call gives the place of the layer that it adds. */
export class ImageDrafter {
  readonly layers: ImageLayer[] = [];
  readonly image = 0;

  convolution(
    from: number,
    channels: number,
    kernel: number | readonly [number, number],
    { stride = 1, isRectified = true } = {},
  ): number {
    const sizes = typeof kernel === 'number' ? ([kernel, kernel] as const) : kernel;
    return this.layers.push({ kind: 'convolution', from, channels, kernel: sizes, stride, isRectified });
  }

  dense(from: number, units: number, isRectified = true): number {
    return this.layers.push({ kind: 'dense', from, units, isRectified });
  }

  largest(from: number, size: number, stride = size): number {
    return this.layers.push({ kind: 'largest', from, size, stride });
  }

  mean(from: number): number {
    return this.layers.push({ kind: 'mean', from });
  }

  sum(one: number, other: number): number {
    return this.layers.push({ kind: 'sum', from: [one, other] });
  }

  joined(...from: readonly number[]): number {
    return this.layers.push({ kind: 'joined', from });
  }
}

/** Of the image and of every layer, by their places. */
export function planeShapes({ image, layers }: ImageDesign): readonly PlaneShape[] {
  const shapes = [image];
  for (const layer of layers) shapes.push(shapeOf(layer, shapes));
  return shapes;
}

/** What a window of `size` has to move along `extent`, padded by half of its size. */
export function windowSteps(extent: number, size: number, stride: number): number {
  return Math.floor((extent + 2 * (size >> 1) - size) / stride) + 1;
}

function shapeOf(layer: ImageLayer, shapes: readonly PlaneShape[]): PlaneShape {
  switch (layer.kind) {
    case 'convolution': {
      const { rows, columns } = shapes[layer.from];
      const [high, wide] = layer.kernel;
      return {
        rows: windowSteps(rows, high, layer.stride),
        columns: windowSteps(columns, wide, layer.stride),
        channels: layer.channels,
      };
    }
    case 'dense':
      return { rows: 1, columns: 1, channels: layer.units };
    case 'largest': {
      const { rows, columns, channels } = shapes[layer.from];
      const { size, stride } = layer;
      return {
        rows: windowSteps(rows, size, stride),
        columns: windowSteps(columns, size, stride),
        channels,
      };
    }
    case 'mean':
      return { rows: 1, columns: 1, channels: shapes[layer.from].channels };
    case 'sum':
      return shapes[layer.from[0]];
    case 'joined':
      return {
        ...shapes[layer.from[0]],
        channels: layer.from.reduce((sum, from) => sum + shapes[from].channels, 0),
      };
  }
}
