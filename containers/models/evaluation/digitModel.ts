import { digitAt, type DigitSet } from '../training/digits.js';
import { argmax, type ClassScores } from './classScores.js';

/** A model of the digits as an experiment sees it: no GPU, no time, only its answers. */
export interface DigitModel {
  readonly name: string;
  /** Share of the held-out digits that it labels wrong. */
  readonly error: number;
  /** The label, '0' to '9', of 784 pixels in [0, 1]. */
  predict(pixels: Float32Array): string;
}

/** @param scores of the class at each index; the label is the index of the largest. */
export function digitModel(name: string, scores: ClassScores, heldOut: DigitSet): DigitModel {
  const predict = (pixels: Float32Array): string => String(argmax(scores(pixels)));
  const labels = predictions({ predict }, heldOut);
  const wrong = labels.reduce((sum, label, k) => sum + (label === heldOut.labels[k] ? 0 : 1), 0);
  return { name, error: wrong / heldOut.count, predict };
}

/** The label of each digit of a set: what experiments with many queries look up. */
export function predictions({ predict }: Pick<DigitModel, 'predict'>, set: DigitSet): Uint8Array {
  return Uint8Array.from({ length: set.count }, (_, k) => Number(predict(digitAt(set, k))));
}
