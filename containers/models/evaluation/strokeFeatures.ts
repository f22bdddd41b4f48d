import type { ClassScores } from './classScores.js';

/** Where the ink rises or falls along: right, down, and the two diagonals, as [rows, columns]. */
const DIRECTIONS = [
  [0, 1],
  [1, 0],
  [1, 1],
  [1, -1],
] as const;

export type StrokeCells = 4 | 7;
/** As the models' kernels cut digits. */
export const LINEAR_SVM_CELLS = 7;
export const RADIAL_CELLS = 4;

/** Features of a digit that is cut into `cells` x `cells`. */
export function strokeFeatureCount(cells: StrokeCells): number {
  return cells * cells * DIRECTIONS.length * 2;
}

/**
 * How strongly ink rises and falls in each direction, in each of `cells` x `cells` cells: the mean over a cell's pixels of the positive part,
 * and of the negative part, of the difference between the neighbours ahead and behind; outside the digit is paper. What
 * is left of a digit hardly changes when it moves by a pixel. `features[cell][direction][rise, fall]`, all at least 0.
 */
export function strokeFeatures(
  pixels: Float32Array,
  cells: StrokeCells,
  features: Float32Array | Float64Array,
): void {
  const width = Math.sqrt(pixels.length);
  const cellWidth = width / cells;
  const at = (row: number, column: number): number =>
    row < 0 || column < 0 || row >= width || column >= width ? 0 : pixels[row * width + column];
  const sums = new Float64Array(features.length);
  for (let row = 0; row < width; row++) {
    for (let column = 0; column < width; column++) {
      const cell = Math.floor(row / cellWidth) * cells + Math.floor(column / cellWidth);
      DIRECTIONS.forEach(([down, right], direction) => {
        const rise = at(row + down, column + right) - at(row - down, column - right);
        const place = (cell * DIRECTIONS.length + direction) * 2;
        if (rise > 0) sums[place] += rise;
        else sums[place + 1] -= rise;
      });
    }
  }
  for (let k = 0; k < features.length; k++) features[k] = sums[k] / (cellWidth * cellWidth);
}

/** Scores of the pixels by a machine that takes stroke features. */
export function overStrokes(cells: StrokeCells, machine: ClassScores<Float64Array>): ClassScores {
  const features = new Float64Array(strokeFeatureCount(cells));
  return (pixels) => {
    strokeFeatures(pixels, cells, features);
    return machine(features);
  };
}
