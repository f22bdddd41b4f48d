/** Kinds of kernels that networks consist of, each with a kernel of the corpus that does the same. */
export type OperationKind =
  | 'convolution'
  | 'pointwise'
  | 'pool'
  | 'globalPool'
  | 'scaleRelu'
  | 'addRelu'
  | 'concat'
  | 'dense'
  | 'softmax'
  | 'matrixProduct'
  | 'attentionProduct'
  | 'attentionSoftmax'
  | 'layerNorm'
  | 'addBiasGelu'
  | 'embedding';

/** One kernel of a forward pass with a batch of 1 in single precision. */
export interface Operation {
  readonly kind: OperationKind;
  readonly flops: number;
  /** Read and written. */
  readonly bytes: number;
  /** Elements that it writes. */
  readonly outputs: number;
}

const ELEMENT_BYTES = 4;

interface Shape {
  readonly channels: number;
  readonly height: number;
  readonly width: number;
}

/** Writes down a convolutional network's kernels while it follows the shape of what flows through it. */
export class Network {
  readonly operations: Operation[] = [];
  readonly inputBytes: number;
  private shape: Shape;

  constructor(channels: number, side: number) {
    this.shape = { channels, height: side, width: side };
    this.inputBytes = ELEMENT_BYTES * elements(this.shape);
  }

  get channels(): number {
    return this.shape.channels;
  }

  /** A convolution with its bias or folded normalisation and its activation. @param kernel side, or [height, width] */
  convolution(
    filters: number,
    kernel: number | readonly [number, number],
    stride = 1,
    isPadded = true,
  ): this {
    const [kernelHeight, kernelWidth] = typeof kernel === 'number' ? [kernel, kernel] : kernel;
    const from = this.shape;
    const to = {
      channels: filters,
      height: extent(from.height, kernelHeight, stride, isPadded),
      width: extent(from.width, kernelWidth, stride, isPadded),
    };
    const weights = filters * from.channels * kernelHeight * kernelWidth;
    this.shape = to;
    return this.add({
      kind: kernelHeight * kernelWidth === 1 ? 'pointwise' : 'convolution',
      flops: 2 * weights * to.height * to.width,
      bytes: ELEMENT_BYTES * (elements(from) + weights + elements(to)),
      outputs: elements(to),
    });
  }

  pool(side: number, stride: number, isPadded = false): this {
    const from = this.shape;
    const height = extent(from.height, side, stride, isPadded);
    this.shape = { ...from, height, width: extent(from.width, side, stride, isPadded) };
    return this.through('pool', elements(from));
  }

  globalPool(): this {
    const from = elements(this.shape);
    this.shape = { ...this.shape, height: 1, width: 1 };
    return this.through('globalPool', from);
  }

  /** Normalisation and activation before a convolution, which cannot be folded into one. */
  scaleRelu(): this {
    return this.through('scaleRelu', elements(this.shape));
  }

  /** The sum with what a block was given. */
  addRelu(): this {
    return this.through('addRelu', 2 * elements(this.shape));
  }

  dense(outputs: number): this {
    const weights = outputs * elements(this.shape);
    const bytes = ELEMENT_BYTES * (elements(this.shape) + weights + outputs);
    this.shape = { channels: outputs, height: 1, width: 1 };
    return this.add({ kind: 'dense', flops: 2 * weights, bytes, outputs });
  }

  softmax(): this {
    return this.through('softmax', elements(this.shape));
  }

  /** Branches from one shape, whose results lie side by side behind it, put there by a kernel. */
  branches(...each: readonly ((branch: this) => unknown)[]): this {
    const from = this.shape;
    let channels = 0;
    let to = from;
    for (const branch of each) {
      this.shape = from;
      branch(this);
      to = this.shape;
      channels += to.channels;
    }
    this.shape = { ...to, channels };
    return this.through('concat', elements(this.shape));
  }

  /** What a branch leads to is not what goes on: a shortcut. */
  beside(branch: (network: this) => unknown): this {
    const from = this.shape;
    branch(this);
    this.shape = from;
    return this;
  }

  /** More channels of the same, where a layer writes them into its input's buffer. */
  widen(channels: number): this {
    this.shape = { ...this.shape, channels };
    return this;
  }

  private through(kind: OperationKind, read: number): this {
    const outputs = elements(this.shape);
    return this.add({ kind, flops: read, bytes: ELEMENT_BYTES * (read + outputs), outputs });
  }

  private add(operation: Operation): this {
    this.operations.push(operation);
    return this;
  }
}

/** Kernels of a transformer encoder. */
export function encoder(layers: number, tokens: number, width: number, heads: number): Operation[] {
  const product = (
    kind: OperationKind,
    rows: number,
    columns: number,
    inner: number,
    times = 1,
  ): Operation => ({
    kind,
    flops: 2 * times * rows * columns * inner,
    bytes: ELEMENT_BYTES * times * (rows * inner + inner * columns + rows * columns),
    outputs: times * rows * columns,
  });
  const over = (kind: OperationKind, outputs: number, read = outputs): Operation => ({
    kind,
    flops: 4 * outputs,
    bytes: ELEMENT_BYTES * (read + outputs),
    outputs,
  });
  const flow = tokens * width;
  const layer = [
    ...[1, 2, 3].map(() => product('matrixProduct', tokens, width, width)),
    product('attentionProduct', tokens, tokens, width / heads, heads),
    over('attentionSoftmax', heads * tokens * tokens),
    product('attentionProduct', tokens, width / heads, tokens, heads),
    product('matrixProduct', tokens, width, width),
    over('addRelu', flow, 2 * flow),
    over('layerNorm', flow),
    product('matrixProduct', tokens, 4 * width, width),
    over('addBiasGelu', 4 * flow),
    product('matrixProduct', tokens, width, 4 * width),
    over('addRelu', flow, 2 * flow),
    over('layerNorm', flow),
  ];
  return [
    over('embedding', flow),
    over('layerNorm', flow),
    ...Array.from({ length: layers }, () => layer).flat(),
  ];
}

function elements({ channels, height, width }: Shape): number {
  return channels * height * width;
}

function extent(from: number, kernel: number, stride: number, isPadded: boolean): number {
  return isPadded ? Math.ceil(from / stride) : Math.floor((from - kernel) / stride) + 1;
}
