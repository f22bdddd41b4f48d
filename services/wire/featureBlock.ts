import type { Features } from '../../selection/index.js';
import { ServiceError } from '../errors/index.js';

/** What a field of sixteen bits can say. */
const MOST_BYTES = 0xffff;

/**
 * Features one after the other: the length of the name (u8), the name (one byte a character), the value (f64).
 * @throws RangeError when a name is longer than its length can say, or all together are
 */
export function encodeFeatures(features: Features): Buffer {
  const entries = Object.entries(features);
  const size = entries.reduce((sum, [name]) => sum + 9 + name.length, 0);
  if (size > MOST_BYTES) throw new RangeError(`features take at most ${MOST_BYTES} bytes, not ${size}`);
  const block = Buffer.allocUnsafe(size);
  let at = 0;
  for (const [name, value] of entries) {
    if (name.length > 255) throw new RangeError('the name of a feature has more than 255 characters');
    block[at] = name.length;
    at += 1 + block.write(name, at + 1, 'latin1');
    at = block.writeDoubleLE(value, at);
  }
  return block;
}

/** Names and values are not checked. @throws ServiceError `malformed_frame`, `conflicting_fields` */
export function decodeFeatures(block: Buffer): Features {
  const features: Record<string, number> = Object.create(null) as Record<string, number>;
  for (let at = 0; at < block.length;) {
    const valueAt = at + 1 + block[at];
    if (valueAt + 8 > block.length) {
      throw new ServiceError('malformed_frame', 'the last of the features is cut off', 'features');
    }
    const name = block.toString('latin1', at + 1, valueAt);
    if (name in features) {
      const message = `the feature '${name.slice(0, 64)}' is given twice`;
      throw new ServiceError('conflicting_fields', message, 'features');
    }
    features[name] = block.readDoubleLE(valueAt);
    at = valueAt + 8;
  }
  return features;
}
