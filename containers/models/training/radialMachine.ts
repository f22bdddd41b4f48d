import type { RadialParameters } from '../evaluation/radialScores.js';
import { classCentres, squaredDistance } from './centres.js';
import { CLASSES } from './digits.js';
import { Draws } from './draws.js';
import type { Examples } from './examples.js';
import { trainLinearSvm, type SvmPlan } from './linearSvm.js';

export interface RadialPlan extends SvmPlan {
  readonly centresPerClass: number;
  readonly clusterRounds: number;
  readonly gamma: number;
  /** Added to the diagonal of the centres' kernel matrix: bounds the coefficients where centres lie close together. */
  readonly ridge: number;
}

/**
 * SVM with the kernel exp(-gamma * squared distance) whose solution is held to the span of the centres (a reduced SVM; the Nyström
 * method): with K = L L' of the centres, a linear SVM on the features inverse(L) k(x) has the kernel machine's own
 * regulariser, and its weights w give the coefficients inverse(L') w.
 */
export function trainRadialMachine(examples: Examples, plan: RadialPlan): RadialParameters {
  const { count: rows, width } = examples;
  const draws = new Draws(plan.seed);
  const centres = classCentres(examples, plan.centresPerClass, plan.clusterRounds, draws);
  const count = centres.length / width;
  const lower = cholesky(kernelMatrix(centres, width, plan), count);
  const features = new Float32Array(rows * count);
  const row = new Float64Array(count);
  for (let k = 0; k < rows; k++) {
    kernelRow(examples.features.subarray(k * width, (k + 1) * width), centres, plan.gamma, row);
    solveLower(lower, row);
    features.set(row, k * count);
  }
  const mapped: Examples = { count: rows, width: count, features, labels: examples.labels };
  const { weights, biases } = trainLinearSvm(mapped, plan);
  const coefficients = new Float32Array(CLASSES * count);
  for (let c = 0; c < CLASSES; c++) {
    const solved = weights.slice(c * count, (c + 1) * count);
    solveTransposed(lower, solved);
    coefficients.set(solved, c * count);
  }
  return {
    centres: transposed(centres, count),
    coefficients,
    biases: Float32Array.from(biases),
    gamma: Math.fround(plan.gamma),
  };
}

/** [rows][columns] as [columns][rows]. */
function transposed(values: Float32Array, rows: number): Float32Array {
  const columns = values.length / rows;
  return values.map((_, index) => values[(index % rows) * columns + Math.floor(index / rows)]);
}

function kernelMatrix(centres: Float32Array, width: number, { gamma, ridge }: RadialPlan): Float64Array {
  const count = centres.length / width;
  const matrix = new Float64Array(count * count);
  for (let k = 0; k < count; k++) {
    const row = matrix.subarray(k * count, (k + 1) * count);
    kernelRow(centres.subarray(k * width, (k + 1) * width), centres, gamma, row);
    row[k] += ridge;
  }
  return matrix;
}

function kernelRow(x: Float32Array, centres: Float32Array, gamma: number, row: Float64Array): void {
  for (let k = 0; k < row.length; k++) {
    row[k] = Math.exp(-gamma * squaredDistance(x, centres.subarray(k * x.length, (k + 1) * x.length)));
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
