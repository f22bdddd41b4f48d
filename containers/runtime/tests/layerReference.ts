/** What layers answer, written as their definitions are. */
import { product } from './seededTensors.js';

export const relu = (x: number): number => Math.max(x, 0);
export const logistic = (x: number): number => 1 / (1 + Math.exp(-x));

export function dense(x: ArrayLike<number>, weights: ArrayLike<number>, bias: ArrayLike<number>): number[] {
  return Array.from(bias, (start, n) =>
    Array.from(x).reduce((sum, value, k) => sum + value * weights[k * bias.length + n], start),
  );
}

export function softmax(x: readonly number[]): number[] {
  const powers = x.map((value) => Math.exp(value - Math.max(...x)));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

export interface Sliding {
  readonly image: readonly [number, number, number];
  readonly kernel: readonly [number, number];
  readonly strides: readonly [number, number];
  /** Top, left. */
  readonly pads: readonly [number, number];
  readonly out: readonly [number, number];
}

/** Calls `visit` for every pixel of the image under every window. */
function slide(
  { kernel, strides, pads, out, image }: Sliding,
  visit: (pixel: number, tap: number, y: number, x: number) => void,
): void {
  for (let oy = 0; oy < out[0]; oy++) {
    for (let ox = 0; ox < out[1]; ox++) {
      for (let ky = 0; ky < kernel[0]; ky++) {
        for (let kx = 0; kx < kernel[1]; kx++) {
          const [y, x] = [oy * strides[0] + ky - pads[0], ox * strides[1] + kx - pads[1]];
          if (y >= 0 && y < image[1] && x >= 0 && x < image[2])
            visit(oy * out[1] + ox, ky * kernel[1] + kx, y, x);
        }
      }
    }
  }
}

export function convolution(
  x: ArrayLike<number>,
  w: ArrayLike<number>,
  bias: ArrayLike<number>,
  sliding: Sliding,
): number[] {
  const { image, kernel, out } = sliding;
  const [pixels, taps] = [product(out), product(kernel)];
  const y = Array.from({ length: bias.length * pixels }, (_, index) => bias[Math.floor(index / pixels)]);
  for (let output = 0; output < bias.length; output++) {
    for (let channel = 0; channel < image[0]; channel++) {
      slide(sliding, (pixel, tap, iy, ix) => {
        y[output * pixels + pixel] +=
          x[(channel * image[1] + iy) * image[2] + ix] * w[(output * image[0] + channel) * taps + tap];
      });
    }
  }
  return y;
}

export function maxPool(x: ArrayLike<number>, sliding: Sliding): number[] {
  const { image, out } = sliding;
  const y = new Array<number>(image[0] * product(out)).fill(-Infinity);
  for (let channel = 0; channel < image[0]; channel++) {
    slide(sliding, (pixel, _tap, iy, ix) => {
      const at = channel * product(out) + pixel;
      y[at] = Math.max(y[at], x[(channel * image[1] + iy) * image[2] + ix]);
    });
  }
  return y;
}
