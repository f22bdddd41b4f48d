import { DIGIT_WIDTH } from './digits.js';
import type { Draws } from './draws.js';

/** Writes the digit shifted by a drawn whole number of pixels, up to `reach` in each direction; what leaves is lost. */
export function shiftDigit(digit: Float32Array, reach: number, draws: Draws, shifted: Float32Array): void {
  const right = draws.integer(-reach, reach);
  const down = draws.integer(-reach, reach);
  shifted.fill(0);
  for (let row = Math.max(0, down); row < Math.min(DIGIT_WIDTH, DIGIT_WIDTH + down); row++) {
    const from = (row - down) * DIGIT_WIDTH;
    for (let column = Math.max(0, right); column < Math.min(DIGIT_WIDTH, DIGIT_WIDTH + right); column++) {
      shifted[row * DIGIT_WIDTH + column] = digit[from + column - right];
    }
  }
}
