/** Means of 2 x 2 pixels: a digit of 28 x 28 becomes one of 14 x 14. */
export function poolDigit(pixels: Float32Array, pooled: Float64Array | Float32Array): void {
  const width = Math.sqrt(pixels.length);
  const half = width / 2;
  for (let row = 0; row < half; row++) {
    for (let column = 0; column < half; column++) {
      const at = 2 * row * width + 2 * column;
      pooled[row * half + column] =
        (pixels[at] + pixels[at + 1] + pixels[at + width] + pixels[at + width + 1]) / 4;
    }
  }
}
