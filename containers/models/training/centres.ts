import type { Draws } from './draws.js';
import { CLASSES } from './digits.js';
import type { Examples } from './examples.js';

/**
 * Up to `perClass` centres of each class: k-means (Lloyd) over the class's examples, begun by k-means++. A class with no more
 * examples than that gives them all. Result: [centres][width].
 */
export function classCentres(
  examples: Examples,
  perClass: number,
  rounds: number,
  draws: Draws,
): Float32Array {
  const { width, features, labels } = examples;
  const centres: Float32Array[] = [];
  for (let c = 0; c < CLASSES; c++) {
    const rows: Float32Array[] = [];
    labels.forEach((label, k) => {
      if (label === c) rows.push(features.subarray(k * width, (k + 1) * width));
    });
    centres.push(...(rows.length <= perClass ? rows : cluster(rows, perClass, rounds, draws)));
  }
  const joined = new Float32Array(centres.length * width);
  centres.forEach((centre, index) => joined.set(centre, index * width));
  return joined;
}

function cluster(rows: readonly Float32Array[], count: number, rounds: number, draws: Draws): Float32Array[] {
  let centres = spreadStart(rows, count, draws);
  for (let round = 0; round < rounds; round++) {
    const sums = centres.map((centre) => new Float64Array(centre.length));
    const sizes = new Int32Array(count);
    for (const row of rows) {
      const nearest = nearestOf(row, centres);
      sizes[nearest] += 1;
      const sum = sums[nearest];
      for (let i = 0; i < row.length; i++) sum[i] += row[i];
    }
    // A centre that nothing is nearest to stays where it is.
    centres = centres.map((centre, index) =>
      sizes[index] === 0 ? centre : Float32Array.from(sums[index], (value) => value / sizes[index]),
    );
  }
  return centres;
}

/** k-means++: each next centre is drawn with probability in proportion to its squared distance from those before it. */
function spreadStart(rows: readonly Float32Array[], count: number, draws: Draws): Float32Array[] {
  const centres = [rows[draws.integer(0, rows.length - 1)]];
  const distances = new Float64Array(rows.length).fill(Infinity);
  while (centres.length < count) {
    const latest = centres[centres.length - 1];
    let total = 0;
    rows.forEach((row, k) => {
      distances[k] = Math.min(distances[k], squaredDistance(row, latest));
      total += distances[k];
    });
    let rest = draws.unit() * total;
    let chosen = 0;
    while (chosen < rows.length - 1 && (rest -= distances[chosen]) > 0) chosen += 1;
    centres.push(rows[chosen]);
  }
  return centres;
}

function nearestOf(row: Float32Array, centres: readonly Float32Array[]): number {
  let nearest = 0;
  let least = Infinity;
  centres.forEach((centre, index) => {
    const distance = squaredDistance(row, centre);
    if (distance < least) [nearest, least] = [index, distance];
  });
  return nearest;
}

export function squaredDistance(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}
