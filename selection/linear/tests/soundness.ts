import { KeyedDraw, policyNamed, type Arm, type Features } from '../../index.js';
import { normalDraw } from '../../normalDraw.js';
import type { LinucbState } from '../linucb.js';

export interface SoundnessOptions {
  readonly seed: number;
  readonly updates: number;
  readonly features: number;
  readonly forgetting: number;
  readonly ridge: number;
}

/** What is left of an arm's matrix after many updates. */
export interface Soundness {
  readonly arm: Arm;
  readonly judged: number;
  /** The largest difference of A from the sum that it stands for, over its largest element. */
  readonly deviation: number;
  /** The least pivot of A - (1 - 1e-6) ridge I, over the ridge: above zero where A is at least that, and so positive definite. */
  readonly leastPivot: number;
  /** The largest difference of an estimated weight from the one that rewards were made with, in units of its standard error. */
  readonly worstError: number;
}

const ARMS = ['often', 'seldom'];
const NOISE = 0.05;

/**
 * Lives through so many feedbacks: 'seldom' has one in a hundred. The features are as bad as real ones: two are nearly the same,
 * one is a hundred times as large, one is nearly always 0.
 */
export function soundnessOf(options: SoundnessOptions): readonly Soundness[] {
  const { seed, updates, features: count, forgetting, ridge } = options;
  const names = Array.from({ length: count }, (_, at) => `f${at}`);
  const policy = policyNamed('linucb');
  const draw = new KeyedDraw(seed);
  const rows = count + 1;
  const truth = ARMS.map((_, arm) => names.map((_name, at) => ((at + 2 * arm) % 5) / (50 * scaleOf(at))));
  const sums = ARMS.map(() => new Float64Array(rows * rows));
  let state = policy.init(ARMS, { features: names, forgetting, ridge });
  let judgedAt = ARMS.map(() => 0);
  for (let at = 1; at <= updates; at++) {
    const next = draw.of(String(at));
    const values = featuresOf(count, next);
    const features: Features = Object.fromEntries(names.map((name, place) => [name, values[place]]));
    const arm = at % 100 === 0 ? 1 : 0;
    const mean = values.reduce((sum, value, place) => sum + value * truth[arm][place], 0.5);
    const loss = Math.min(1, Math.max(0, 1 - mean - NOISE * normalDraw(next)));
    const selection = { arms: [ARMS[arm]], propensity: 1 };
    state = policy.observe(state, selection, [], { label: '', loss }, { context: '', features });
    addTo(sums[arm], [1, ...values], forgetting ** (at - judgedAt[arm]));
    judgedAt = judgedAt.with(arm, at);
  }
  const learned = state as unknown as LinucbState;
  return ARMS.map((arm, at) => {
    const factor = learned.factors[at];
    const matrix = squareOf(factor, rows);
    const exact = sums[at].map((sum, place) => sum + (place % (rows + 1) === 0 ? ridge : 0));
    const largest = exact.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const deviation = matrix.reduce(
      (most, value, place) => Math.max(most, Math.abs(value - exact[place])),
      0,
    );
    const weights = solved(exact, learned.targets[at], rows);
    const inverse = inverseDiagonal(exact, rows);
    const worstError = weights
      .slice(1)
      .reduce(
        (most, weight, place) =>
          Math.max(most, Math.abs(weight - truth[at][place]) / (NOISE * Math.sqrt(inverse[place + 1]))),
        0,
      );
    return {
      arm,
      judged: learned.judged[at],
      deviation: deviation / largest,
      leastPivot: leastPivot(matrix, (1 - 1e-6) * ridge, rows) / ridge,
      worstError,
    };
  });
}

/** Whether these are the matrices that should be there. */
export function isSound({ deviation, leastPivot, worstError }: Soundness): boolean {
  return deviation < 1e-9 && leastPivot > 0 && worstError < 6;
}

function scaleOf(at: number): number {
  return at === 2 ? 100 : 1;
}

function featuresOf(count: number, next: () => number): number[] {
  const values = Array.from({ length: count }, (_, at) => scaleOf(at) * (2 * next() - 1));
  if (count > 1) values[1] = values[0] + 1e-3 * (2 * next() - 1);
  if (count > 3) values[3] = next() < 0.001 ? 1 : 0;
  return values;
}

function addTo(sum: Float64Array, values: readonly number[], left: number): void {
  const rows = values.length;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < rows; column++) {
      sum[row * rows + column] = sum[row * rows + column] * left + values[row] * values[column];
    }
  }
}

/** L L'. */
function squareOf(factor: readonly number[], rows: number): Float64Array {
  const matrix = new Float64Array(rows * rows);
  const at = (row: number, column: number) => factor[(row * (row + 1)) / 2 + column];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column <= row; column++) {
      let sum = 0;
      for (let inner = 0; inner <= column; inner++) sum += at(row, inner) * at(column, inner);
      matrix[row * rows + column] = sum;
      matrix[column * rows + row] = sum;
    }
  }
  return matrix;
}

/** Of Gauss's elimination on the matrix less `shift` I: all above zero exactly when it is positive definite. */
function leastPivot(matrix: Float64Array, shift: number, rows: number): number {
  const rest = matrix.map((value, place) => value - (place % (rows + 1) === 0 ? shift : 0));
  let least = Infinity;
  for (let pivot = 0; pivot < rows; pivot++) {
    const value = rest[pivot * rows + pivot];
    least = Math.min(least, value);
    for (let row = pivot + 1; row < rows; row++) {
      const share = rest[row * rows + pivot] / value;
      for (let column = pivot; column < rows; column++) {
        rest[row * rows + column] -= share * rest[pivot * rows + column];
      }
    }
  }
  return least;
}

function solved(matrix: Float64Array, right: ArrayLike<number>, rows: number): number[] {
  const rest = Float64Array.from(matrix);
  const values = Array.from(right);
  for (let pivot = 0; pivot < rows; pivot++) {
    for (let row = pivot + 1; row < rows; row++) {
      const share = rest[row * rows + pivot] / rest[pivot * rows + pivot];
      for (let column = pivot; column < rows; column++) {
        rest[row * rows + column] -= share * rest[pivot * rows + column];
      }
      values[row] -= share * values[pivot];
    }
  }
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = row + 1; column < rows; column++)
      values[row] -= rest[row * rows + column] * values[column];
    values[row] /= rest[row * rows + row];
  }
  return values;
}

function inverseDiagonal(matrix: Float64Array, rows: number): number[] {
  return Array.from({ length: rows }, (_, at) => {
    const unit = new Float64Array(rows);
    unit[at] = 1;
    return solved(matrix, unit, rows)[at];
  });
}
