/** A matrix of 8 by 8 halves, a row in four lanes and a word a lane, turned about its diagonal. */
export function turnedHalves(words: Uint32Array): Uint32Array {
  const half = (row: number, column: number): number =>
    ((words[row * 4 + (column >> 1)] ?? 0) >>> (16 * (column & 1))) & 0xffff;
  return Uint32Array.from({ length: 32 }, (_, lane) => {
    const [row, column] = [lane >> 2, (lane & 3) * 2];
    return (half(column, row) | (half(column + 1, row) << 16)) >>> 0;
  });
}
