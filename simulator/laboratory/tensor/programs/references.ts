/** Σ a(row, κ) · b(κ, column) for every element of an m × n matrix, in double precision, row by row. */
export function products(
  [m, n, k]: readonly [number, number, number],
  a: (row: number, inner: number) => number,
  b: (inner: number, column: number) => number,
): number[] {
  return Array.from({ length: m * n }, (_, at) => {
    const [row, column] = [Math.floor(at / n), at % n];
    let sum = 0;
    for (let inner = 0; inner < k; inner++) sum += a(row, inner) * b(inner, column);
    return sum;
  });
}

/** An f32 without the 13 bits that a tf32 lacks. */
export function cutToTf32(value: number): number {
  const words = new Uint32Array(Float32Array.of(value).buffer);
  words[0] = (words[0] ?? 0) & 0xffffe000;
  return new Float32Array(words.buffer)[0] ?? 0;
}

/** A 4-bit element of packed words. */
export function nibble(words: Uint32Array, at: number): number {
  return ((words[at >> 3] ?? 0) >>> (4 * (at & 7))) & 15;
}

/** Bits set in a word. */
export function ones(word: number): number {
  let count = 0;
  for (let rest = word >>> 0; rest !== 0; rest = (rest & (rest - 1)) >>> 0) count++;
  return count;
}
