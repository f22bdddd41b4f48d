import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { packageRoot } from '../../../simulator/files/index.js';

export const DIGIT_WIDTH = 28;
export const PIXELS = DIGIT_WIDTH * DIGIT_WIDTH;
export const CLASSES = 10;

/** Digits one after the other: `PIXELS` values in [0, 1] each, row by row, 0 for paper and 1 for ink. */
export interface DigitSet {
  readonly count: number;
  readonly pixels: Float32Array;
  readonly labels: Uint8Array;
}

export interface DigitSplit {
  readonly training: DigitSet;
  readonly heldOut: DigitSet;
}

const FOLDER = 'containers/models/training';
const RECORD = 1 + PIXELS;

/**
 * 10,000 digits; the last fifth of each class is held out, in a file of its own. A record of the files is a label and the grey
 * levels of a digit (0 paper, 255 ink); records of a class stand together. A pixel has the three decimals with which it was
 * published. Those to train with are not in the package.
 */
export function loadDigits(): DigitSplit {
  return { training: digitsOf('training.bin.br'), heldOut: heldOutDigits() };
}

/** Those that no model was trained with. */
export function heldOutDigits(): DigitSet {
  return digitsOf('heldOut.bin.br');
}

function digitsOf(file: string): DigitSet {
  const bytes = brotliDecompressSync(readFileSync(join(packageRoot(), FOLDER, file)));
  const classes = Array.from({ length: CLASSES }, (): Uint8Array[] => []);
  for (let at = 0; at < bytes.length; at += RECORD)
    classes[bytes[at]].push(bytes.subarray(at + 1, at + RECORD));
  return setOf(classes);
}

function setOf(classes: readonly (readonly Uint8Array[])[]): DigitSet {
  const levels = Float32Array.from({ length: 256 }, (_, level) => Math.round((level / 255) * 1000) / 1000);
  const digits = classes.flat();
  const pixels = new Float32Array(digits.length * PIXELS);
  digits.forEach((digit, index) => {
    for (let pixel = 0; pixel < PIXELS; pixel++) pixels[index * PIXELS + pixel] = levels[digit[pixel]];
  });
  const labels = Uint8Array.from(classes.flatMap((one, label) => one.map(() => label)));
  return { count: digits.length, pixels, labels };
}

/** One digit of a set, as a view. */
export function digitAt(set: DigitSet, index: number): Float32Array {
  return set.pixels.subarray(index * PIXELS, (index + 1) * PIXELS);
}
