import { poolDigit } from '../evaluation/pooling.js';
import { CLASSES, PIXELS, digitAt, type DigitSet } from './digits.js';
import type { Draws } from './draws.js';

/** Rows of features, one an example: `features[example][width]`. */
export interface Examples {
  readonly count: number;
  readonly width: number;
  readonly features: Float32Array;
  readonly labels: Uint8Array;
}

export const POOLED_PIXELS = PIXELS / 4;

export function pixelExamples({ count, pixels, labels }: DigitSet): Examples {
  return { count, width: PIXELS, features: pixels, labels };
}

/** Each digit as means of 2 x 2 pixels. */
export function pooledExamples(set: DigitSet): Examples {
  const features = new Float32Array(set.count * POOLED_PIXELS);
  for (let k = 0; k < set.count; k++) {
    poolDigit(digitAt(set, k), features.subarray(k * POOLED_PIXELS, (k + 1) * POOLED_PIXELS));
  }
  return { count: set.count, width: POOLED_PIXELS, features, labels: set.labels };
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

/** The digits, and each again for every shift of one pixel up, down, left and right that `withShifts` asks for. */
export function withShifts(set: DigitSet): DigitSet {
  const shifts = [0, -1, 1, -28, 28];
  const pixels = new Float32Array(set.pixels.length * shifts.length);
  const labels = new Uint8Array(set.count * shifts.length);
  shifts.forEach((shift, turn) => {
    for (let k = 0; k < set.count; k++) {
      const from = digitAt(set, k);
      const place = turn * set.count + k;
      const to = pixels.subarray(place * PIXELS, (place + 1) * PIXELS);
      // Digits keep a blank margin: what a shift carries over the edge is blank.
      for (let i = Math.max(0, shift); i < Math.min(PIXELS, PIXELS + shift); i++) to[i] = from[i - shift];
      labels[place] = set.labels[k];
    }
  });
  return { count: labels.length, pixels, labels };
}
