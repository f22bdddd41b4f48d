import type { Draw } from './policy.js';

/** Standard normal, Box and Muller's, of two uniform draws; the second value is not kept: a draw has no memory. */
export function normalDraw(draw: Draw): number {
  return Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
}
