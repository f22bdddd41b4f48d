import type { ClassScores } from './classScores.js';
import { poolDigit } from './pooling.js';

export interface RadialParameters {
  /** [centres][pixels / 4]: pooled digits. */
  readonly centres: Float32Array;
  /** [classes][centres]. */
  readonly coefficients: Float32Array;
  readonly biases: Float32Array;
  /** Of the kernel exp(-gamma * squared distance). */
  readonly gamma: number;
}

/** Margins of a kernel machine over pooled digits. */
export function radialScores({ centres, coefficients, biases, gamma }: RadialParameters): ClassScores {
  const count = coefficients.length / biases.length;
  const width = centres.length / count;
  const pooled = new Float64Array(width);
  const kernels = new Float64Array(count);
  return (pixels) => {
    poolDigit(pixels, pooled);
    for (let k = 0; k < count; k++) {
      let distance = 0;
      for (let i = 0; i < width; i++) {
        const difference = pooled[i] - centres[k * width + i];
        distance += difference * difference;
      }
      kernels[k] = Math.exp(-gamma * distance);
    }
    return Float64Array.from(biases, (bias, c) =>
      kernels.reduce((sum, value, k) => sum + value * coefficients[c * count + k], bias),
    );
  };
}
