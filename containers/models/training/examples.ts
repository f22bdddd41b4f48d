import { strokeFeatureCount, strokeFeatures, type StrokeCells } from '../evaluation/strokeFeatures.js';
import { CLASSES, PIXELS, digitAt, type DigitSet } from './digits.js';
import type { Draws } from './draws.js';

/** Rows of features, one an example: `features[example][width]`. */
export interface Examples {
  readonly count: number;
  readonly width: number;
  readonly features: Float32Array;
  readonly labels: Uint8Array;
}

/** Each digit as its stroke features. */
export function strokeExamples(set: DigitSet, cells: StrokeCells): Examples {
  const width = strokeFeatureCount(cells);
  const features = new Float32Array(set.count * width);
  for (let k = 0; k < set.count; k++) {
    strokeFeatures(digitAt(set, k), cells, features.subarray(k * width, (k + 1) * width));
  }
  return { count: set.count, width, features, labels: set.labels };
}

export function subset(set: DigitSet, indices: ArrayLike<number>): DigitSet {
  const pixels = new Float32Array(indices.length * PIXELS);
  const labels = new Uint8Array(indices.length);
  for (let k = 0; k < indices.length; k++) {
    pixels.set(digitAt(set, indices[k]), k * PIXELS);
    labels[k] = set.labels[indices[k]];
  }
  return { count: indices.length, pixels, labels };
}

/** `perClass` drawn digits of each class, or all that there are. */
export function drawnSubset(set: DigitSet, perClass: number, draws: Draws): DigitSet {
  const order = Int32Array.from({ length: set.count }, (_, index) => index);
  draws.shuffle(order);
  const taken = new Int32Array(CLASSES);
  return subset(
    set,
    order.filter((index) => (taken[set.labels[index]] += 1) <= perClass),
  );
}

/** Drawn fifth of the digits, to choose a model's scale on, and the rest. */
export function splitFifth(
  set: DigitSet,
  draws: Draws,
): { readonly rest: DigitSet; readonly fifth: DigitSet } {
  const order = Int32Array.from({ length: set.count }, (_, index) => index);
  draws.shuffle(order);
  const cut = Math.floor(set.count / 5);
  return { fifth: subset(set, order.subarray(0, cut)), rest: subset(set, order.subarray(cut)) };
}
