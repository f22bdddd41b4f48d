import { elementsOfShape } from './graphOps.js';
import type { NodeReader } from './nodeReader.js';
import type { OnnxTensor } from './onnxModel.js';

/** One value a channel, when all of a channel's pixels have the same. */
export function perChannel(
  values: Float64Array,
  [channels, ...image]: readonly number[],
): Float64Array | undefined {
  const pixels = elementsOfShape(image);
  if (!values.every((value, index) => value === values[index - (index % pixels)])) return undefined;
  return Float64Array.from({ length: channels }, (_, channel) => values[channel * pixels]);
}

/** A constant as one item's values, by ONNX's rules of broadcasting. Its own batch extent must be 1 or absent. */
export function broadcast(
  reader: NodeReader,
  { dims, values }: OnnxTensor,
  shape: readonly number[],
): Float64Array {
  const misfit = (): never =>
    reader.refuse(
      `a constant of the shape [${dims.join(', ')}] cannot be added to a query's [${shape.join(', ')}]`,
    );
  const rank = shape.length + 1;
  if (dims.length > rank) misfit();
  const padded = [...new Array<number>(rank - dims.length).fill(1), ...dims];
  if (padded[0] !== 1) misfit();
  const own = padded.slice(1);
  if (own.some((extent, axis) => extent !== 1 && extent !== shape[axis])) misfit();
  return Float64Array.from({ length: elementsOfShape(shape) }, (_, index) => {
    let rest = index;
    let place = 0;
    let step = 1;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const at = rest % shape[axis];
      rest = Math.floor(rest / shape[axis]);
      if (own[axis] !== 1) place += at * step;
      step *= own[axis];
    }
    return values[place];
  });
}
