import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { packageRoot } from '../../../containers/models/index.js';

export const PIXELS = 784;

const FILE = 'loadtest/replay/inputs/heldOutDigits.bin.gz';

/** Digits that no model was trained on: a label and 28 × 28 grey levels (0 paper, 255 ink) each, classes in turn. */
export interface HeldOutDigits {
  readonly count: number;
  label(index: number): string;
  /** Pixels in [0, 1], for the models: three decimals, as they were published. */
  pixels(index: number): Float32Array;
}

export function readHeldOutDigits(): HeldOutDigits {
  const bytes = gunzipSync(readFileSync(join(packageRoot(), FILE)));
  const levels = Float32Array.from({ length: 256 }, (_, level) => Math.round((level / 255) * 1000) / 1000);
  return {
    count: bytes.length / (1 + PIXELS),
    label: (index) => String(bytes[index * (1 + PIXELS)]),
    pixels: (index) => {
      const from = index * (1 + PIXELS) + 1;
      return Float32Array.from(bytes.subarray(from, from + PIXELS), (level) => levels[level]);
    },
  };
}
