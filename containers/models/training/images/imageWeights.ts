import { planeShapes, type ImageDesign } from './imageDesign.js';
import type { ImageNetwork, LayerWeights } from './imageNetwork.js';

/** The weights of a network, then the biases, layer by layer, in single precision. */
export function imageWeightBytes({ weights }: ImageNetwork): Uint8Array {
  const parts = weights.flatMap((own) => (own === null ? [] : [own.weights, own.biases]));
  return new Uint8Array(
    Buffer.concat(
      parts.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
    ),
  );
}

/** @throws RangeError when they are those of another design. */
export function withImageWeights(design: ImageDesign, bytes: Uint8Array): ImageNetwork {
  const values = new Float32Array(bytes.slice().buffer);
  const shapes = planeShapes(design);
  let at = 0;
  const take = (count: number): Float32Array => values.subarray(at, (at += count));
  const weights = design.layers.map((layer): LayerWeights | null => {
    if (layer.kind !== 'convolution' && layer.kind !== 'dense') return null;
    const { rows, columns, channels } = shapes[layer.from];
    const [window, outputs] =
      layer.kind === 'dense'
        ? [rows * columns, layer.units]
        : [layer.kernel[0] * layer.kernel[1], layer.channels];
    return { weights: take(window * channels * outputs), biases: take(outputs) };
  });
  if (at !== values.length) throw new RangeError(`the design has ${at} weights, the file ${values.length}`);
  return { design, weights };
}
