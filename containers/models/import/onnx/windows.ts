import type { NodeReader } from './nodeReader.js';

/** How a window slides along one axis. */
export interface SlidingAxis {
  readonly stride: number;
  readonly dilation: number;
  readonly before: number;
  readonly after: number;
  readonly out: number;
}

/** The axes of a convolution or a pool. @param roundsUp 1: results begin as long as they begin within the image */
export function slidingAxes(
  reader: NodeReader,
  image: readonly number[],
  kernel: readonly number[],
  roundsUp: number,
): readonly SlidingAxis[] {
  const { strides, dilations, pads, automatic } = attributesOf(reader, image, kernel);
  return image.map((extent, axis) => {
    const [stride, dilation] = [strides[axis], dilations[axis]];
    const reach = dilation * (kernel[axis] - 1) + 1;
    if (automatic === 'SAME_UPPER' || automatic === 'SAME_LOWER') {
      const out = Math.ceil(extent / stride);
      const padding = Math.max(0, (out - 1) * stride + reach - extent);
      const before = automatic === 'SAME_UPPER' ? Math.floor(padding / 2) : Math.ceil(padding / 2);
      return { stride, dilation, before, after: padding - before, out };
    }
    const [before, after] = automatic === 'VALID' ? [0, 0] : [pads[axis], pads[axis + image.length]];
    const room = extent + before + after - reach;
    if (room < 0) reader.invalid(`a window of ${reach} does not fit into ${extent + before + after} pixels`);
    let out = (roundsUp === 1 ? Math.ceil(room / stride) : Math.floor(room / stride)) + 1;
    // A window that would begin behind the image is left out.
    if (roundsUp === 1 && (out - 1) * stride >= extent + before) out -= 1;
    return { stride, dilation, before, after, out };
  });
}

/** The axes of a transposed convolution. */
export function slidingBack(
  reader: NodeReader,
  image: readonly number[],
  kernel: readonly number[],
): readonly SlidingAxis[] {
  const { strides, dilations, pads, automatic } = attributesOf(reader, image, kernel);
  const none = image.map(() => 0);
  const extra = reader.integers('output_padding', none);
  const given = reader.node.attributes.get('output_shape')?.integers;
  const wanted = given?.slice(-image.length);
  return image.map((extent, axis) => {
    const [stride, dilation] = [strides[axis], dilations[axis]];
    const full = stride * (extent - 1) + extra[axis] + dilation * (kernel[axis] - 1) + 1;
    const isSame = automatic === 'SAME_UPPER' || automatic === 'SAME_LOWER';
    if (wanted !== undefined || isSame) {
      const out = wanted?.[axis] ?? extent * stride;
      const padding = Math.max(0, full - out);
      const before = automatic === 'SAME_UPPER' ? Math.floor(padding / 2) : Math.ceil(padding / 2);
      const isUpper = automatic !== 'SAME_LOWER';
      return { stride, dilation, before: isUpper ? Math.floor(padding / 2) : before, after: 0, out };
    }
    const before = automatic === 'VALID' ? 0 : pads[axis];
    const after = automatic === 'VALID' ? 0 : pads[axis + image.length];
    const out = full - before - after;
    if (out < 1) reader.invalid(`pads of ${before} and ${after} leave nothing of ${full} pixels`);
    return { stride, dilation, before, after: 0, out };
  });
}

interface Attributes {
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  readonly pads: readonly number[];
  readonly automatic: string;
}

function attributesOf(reader: NodeReader, image: readonly number[], kernel: readonly number[]): Attributes {
  const ones = image.map(() => 1);
  const strides = reader.integers('strides', ones);
  const dilations = reader.integers('dilations', ones);
  const pads = reader.integers(
    'pads',
    [...image, ...image].map(() => 0),
  );
  if ([...strides, ...dilations, ...kernel].some((value) => !(value >= 1 && value < 2 ** 24))) {
    reader.invalid('kernel_shape, strides and dilations must be 1 or more, and below 2^24');
  }
  if (pads.some((pad) => !(Math.abs(pad) < 2 ** 24))) reader.invalid(`pads of [${pads.join(', ')}]`);
  if (pads.some((pad) => pad < 0)) reader.refuse('negative pads are not supported: slice the values before');
  const automatic = reader.text('auto_pad', 'NOTSET');
  if (!['NOTSET', 'VALID', 'SAME_UPPER', 'SAME_LOWER', ''].includes(automatic)) {
    reader.invalid(`auto_pad '${automatic}' is none of ONNX`);
  }
  return { strides, dilations, pads, automatic };
}
