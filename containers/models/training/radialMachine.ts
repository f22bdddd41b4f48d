import type { RadialParameters } from '../evaluation/radialScores.js';
import { classCentres, squaredDistance } from './centres.js';
import { CLASSES, type DigitSet } from './digits.js';
import { Draws } from './draws.js';
import { POOLED_PIXELS, pooledExamples, withShifts, type Examples } from './examples.js';
import { trainLinearSvm, type SvmPlan } from './linearSvm.js';

export interface RadialPlan extends SvmPlan {
  readonly centresPerClass: number;
  readonly clusterRounds: number;
  readonly gamma: number;
  /** Added to the diagonal of the centres' kernel matrix: bounds the coefficients where centres lie close together. */
  readonly ridge: number;
  /** Trains on every digit's four shifts by a pixel as well. */
  readonly shifted: boolean;
}

/**
 * SVM with the kernel exp(-gamma * squared distance) whose solution is held to the span of the centres (a reduced SVM; the Nyström
 * method): with K = L L' of the centres, a linear SVM on the features inverse(L) k(x) has the kernel machine's own
 * regulariser, and its weights w give the coefficients inverse(L') w.
 */
export function trainRadialMachine(set: DigitSet, plan: RadialPlan): RadialParameters {
  const draws = new Draws(plan.seed);
  const examples = pooledExamples(plan.shifted ? withShifts(set) : set);
  const centres = classCentres(pooledExamples(set), plan.centresPerClass, plan.clusterRounds, draws);
  const count = centres.length / POOLED_PIXELS;
  const lower = cholesky(kernelMatrix(centres, plan), count);
  const features = new Float32Array(examples.count * count);
  const row = new Float64Array(count);
  for (let k = 0; k < examples.count; k++) {
    const example = examples.features.subarray(k * POOLED_PIXELS, (k + 1) * POOLED_PIXELS);
    kernelRow(example, centres, plan.gamma, row);
    solveLower(lower, row);
    features.set(row, k * count);
  }
  const mapped: Examples = { count: examples.count, width: count, features, labels: examples.labels };
  const { weights, biases } = trainLinearSvm(mapped, plan, draws);
  const coefficients = new Float32Array(CLASSES * count);
  for (let c = 0; c < CLASSES; c++) {
    const solved = weights.slice(c * count, (c + 1) * count);
    solveTransposed(lower, solved);
    coefficients.set(solved, c * count);
  }
  return { centres, coefficients, biases: Float32Array.from(biases), gamma: plan.gamma };
}

function kernelMatrix(centres: Float32Array, { gamma, ridge }: RadialPlan): Float64Array {
  const count = centres.length / POOLED_PIXELS;
  const matrix = new Float64Array(count * count);
  for (let k = 0; k < count; k++) {
    const row = matrix.subarray(k * count, (k + 1) * count);
    kernelRow(centres.subarray(k * POOLED_PIXELS, (k + 1) * POOLED_PIXELS), centres, gamma, row);
    row[k] += ridge;
  }
  return matrix;
}

function kernelRow(x: Float32Array, centres: Float32Array, gamma: number, row: Float64Array): void {
  for (let k = 0; k < row.length; k++) {
    const centre = centres.subarray(k * POOLED_PIXELS, (k + 1) * POOLED_PIXELS);
    row[k] = Math.exp(-gamma * squaredDistance(x, centre));
  }
}

/** Lower triangle L with L L' = matrix, [n][n]. */
function cholesky(matrix: Float64Array, n: number): Float64Array {
  const lower = new Float64Array(n * n);
  for (let row = 0; row < n; row++) {
    for (let column = 0; column <= row; column++) {
      let sum = matrix[row * n + column];
      for (let k = 0; k < column; k++) sum -= lower[row * n + k] * lower[column * n + k];
      lower[row * n + column] = row === column ? Math.sqrt(sum) : sum / lower[column * n + column];
    }
  }
  return lower;
}

/** values = inverse(L) values. */
function solveLower(lower: Float64Array, values: Float64Array): void {
  const n = values.length;
  for (let row = 0; row < n; row++) {
    let sum = values[row];
    for (let k = 0; k < row; k++) sum -= lower[row * n + k] * values[k];
    values[row] = sum / lower[row * n + row];
  }
}

/** values = inverse(L') values. */
function solveTransposed(lower: Float64Array, values: Float64Array): void {
  const n = values.length;
  for (let row = n - 1; row >= 0; row--) {
    let sum = values[row];
    for (let k = row + 1; k < n; k++) sum -= lower[k * n + row] * values[k];
    values[row] = sum / lower[row * n + row];
  }
}
