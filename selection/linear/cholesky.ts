/*
 * Lower triangular factors L of symmetric positive definite matrices A = L L', packed row by row: element (i, j) stands at
 * i (i + 1) / 2 + j. What is kept is L: a matrix that is made of it is symmetric and positive definite by construction, however
 * many updates have rounded it, as long as its diagonal is above zero.
 */

/** Numbers in the factor of a matrix of so many rows. */
export function packedLength(rows: number): number {
  return (rows * (rows + 1)) / 2;
}

/** Of the identity times `scale` squared. */
export function scaledIdentity(rows: number, scale: number): number[] {
  const factor = new Array<number>(packedLength(rows)).fill(0);
  for (let row = 0; row < rows; row++) factor[packedLength(row + 1) - 1] = scale;
  return factor;
}

/**
 * A becomes A + v v', in place, by one Givens rotation a column: O(rows^2), without a subtraction under a root.
 * @param vector v, whose first `from` elements are zero; it is overwritten
 */
export function addOuter(factor: number[], vector: Float64Array, rows: number, from = 0): void {
  for (let column = from; column < rows; column++) {
    const diagonal = packedLength(column + 1) - 1;
    const before = factor[diagonal];
    const added = vector[column];
    if (added === 0) continue;
    const after = Math.hypot(before, added);
    const cosine = before / after;
    const sine = added / after;
    factor[diagonal] = after;
    for (let row = column + 1, at = diagonal + column + 1; row < rows; at += ++row) {
      const old = factor[at];
      factor[at] = cosine * old + sine * vector[row];
      vector[row] = cosine * vector[row] - sine * old;
    }
  }
}

/** A becomes A + amount I, in place: O(rows^3). @param scratch of `rows` elements */
export function addIdentity(factor: number[], amount: number, rows: number, scratch: Float64Array): void {
  const root = Math.sqrt(amount);
  for (let row = 0; row < rows; row++) {
    scratch.fill(0, 0, rows);
    scratch[row] = root;
    addOuter(factor, scratch, rows, row);
  }
}

/** The solution z of L z = v, into `solution`. */
export function solveLower(
  factor: readonly number[],
  vector: ArrayLike<number>,
  rows: number,
  solution: Float64Array,
): void {
  for (let row = 0, at = 0; row < rows; row++) {
    let rest = vector[row];
    for (let column = 0; column < row; column++) rest -= factor[at++] * solution[column];
    solution[row] = rest / factor[at++];
  }
}

/**
 * The factor of the matrix whose row and column i are row and column `kept[i]` of A, or where that is negative those of
 * `fresh` I. Exact, as adding outer products of the columns of L is.
 */
export function rearranged(factor: readonly number[], kept: readonly number[], fresh: number): number[] {
  const rows = kept.length;
  const result = new Array<number>(packedLength(rows)).fill(0);
  const vector = new Float64Array(rows);
  const highest = kept.reduce((most, row) => Math.max(most, row), -1);
  for (let column = 0; column <= highest; column++) {
    for (let row = 0; row < rows; row++) {
      const old = kept[row];
      vector[row] = old >= column ? factor[packedLength(old) + column] : 0;
    }
    addOuter(result, vector, rows);
  }
  for (let row = 0; row < rows; row++) {
    if (kept[row] >= 0) continue;
    vector.fill(0);
    vector[row] = Math.sqrt(fresh);
    addOuter(result, vector, rows, row);
  }
  return result;
}
