import type { SlidingWindow } from '../imageLayers.js';
import type { NodeReader } from './nodeReader.js';

/** The window of a Conv or MaxPool node over an image of height x width. */
export function windowOf(
  reader: NodeReader,
  image: readonly [number, number],
  kernel: readonly [number, number],
): SlidingWindow {
  const strides = reader.integers('strides', [1, 1]);
  const dilations = reader.integers('dilations', [1, 1]);
  if (dilations.some((dilation) => dilation !== 1)) reader.refuse('dilations other than 1 are not supported');
  if (strides.some((stride) => stride < 1) || kernel.some((extent) => extent < 1)) {
    reader.invalid('kernel_shape and strides must be 1 or more');
  }
  const pads = reader.integers('pads', [0, 0, 0, 0]);
  if (pads.some((pad) => pad < 0)) reader.refuse('negative pads are not supported');
  const roundsUp = reader.integer('ceil_mode', 0) === 1;
  const automatic = reader.text('auto_pad', 'NOTSET');
  const [vertical, horizontal] = [0, 1].map((axis) =>
    axisOf(reader, {
      extent: image[axis],
      kernel: kernel[axis],
      stride: strides[axis],
      pads: [pads[axis], pads[axis + 2]],
      automatic,
      roundsUp,
    }),
  );
  return {
    kernel,
    strides: [strides[0], strides[1]],
    padTop: vertical.before,
    padLeft: horizontal.before,
    out: [vertical.out, horizontal.out],
  };
}

function axisOf(
  reader: NodeReader,
  axis: {
    readonly extent: number;
    readonly kernel: number;
    readonly stride: number;
    readonly pads: readonly [number, number];
    readonly automatic: string;
    readonly roundsUp: boolean;
  },
): { before: number; out: number } {
  const { extent, kernel, stride, automatic } = axis;
  if (automatic === 'SAME_UPPER' || automatic === 'SAME_LOWER') {
    const out = Math.ceil(extent / stride);
    const padding = Math.max(0, (out - 1) * stride + kernel - extent);
    return {
      before: automatic === 'SAME_UPPER' ? Math.floor(padding / 2) : Math.ceil(padding / 2),
      out,
    };
  }
  if (automatic !== 'NOTSET' && automatic !== 'VALID')
    reader.invalid(`auto_pad '${automatic}' is none of ONNX`);
  const [before, after] = automatic === 'VALID' ? [0, 0] : axis.pads;
  const room = extent + before + after - kernel;
  if (room < 0) reader.invalid(`a window of ${kernel} does not fit into ${extent + before + after} pixels`);
  if (before >= kernel || after >= kernel) {
    reader.refuse(`pads of a whole window (${before}, ${after} of ${kernel}) are not supported`);
  }
  let out = (axis.roundsUp ? Math.ceil(room / stride) : Math.floor(room / stride)) + 1;
  // A window that would begin behind the image is left out.
  if (axis.roundsUp && (out - 1) * stride >= extent + before) out -= 1;
  return { before, out };
}
