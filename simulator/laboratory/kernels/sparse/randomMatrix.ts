import { hash, uniform } from '../seededInputs.js';

/** A sparse matrix in compressed rows. */
export interface SparseMatrix {
  readonly rows: number;
  readonly columns: number;
  readonly starts: Int32Array;
  readonly indices: Int32Array;
  readonly values: Float32Array;
}

/** Rows of 0 to `most` entries with ascending columns; every seventh row is empty. */
export function randomMatrix(rows: number, columns: number, most: number, seed: number): SparseMatrix {
  const indices: number[] = [];
  const starts = [0];
  for (let row = 0; row < rows; row++) {
    const count = row % 7 === 3 ? 0 : hash(row, seed) % (most + 1);
    const chosen = new Set(Array.from({ length: count }, (_, i) => hash(row * most + i, seed + 1) % columns));
    indices.push(...[...chosen].sort((a, b) => a - b));
    starts.push(indices.length);
  }
  return {
    rows,
    columns,
    starts: Int32Array.from(starts),
    indices: Int32Array.from(indices),
    values: uniform(indices.length, seed + 2),
  };
}
