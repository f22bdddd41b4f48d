import { normalDraw } from './normalDraw.js';
import type { Draw } from './policy.js';

/**
 * An exact draw from Beta(a, b), both at least 1, as X / (X + Y) of two gamma variates.
 * Takes as many uniform draws as the rejections need, about seven.
 */
export function betaDraw(a: number, b: number, draw: Draw): number {
  const x = gammaDraw(a, draw);
  const y = gammaDraw(b, draw);
  return x / (x + y);
}

/** Gamma(shape, 1), shape at least 1: Marsaglia and Tsang 2000, a squeeze around a transformed normal. */
function gammaDraw(shape: number, draw: Draw): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normalDraw(draw);
    const v = (1 + c * x) ** 3;
    if (v <= 0) continue;
    const u = 1 - draw();
    if (u < 1 - 0.0331 * x ** 4) return d * v;
    if (Math.log(u) < 0.5 * x * x + d * (1 - v + Math.log(v))) return d * v;
  }
}
