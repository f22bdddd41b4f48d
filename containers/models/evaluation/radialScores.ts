import type { ClassScores } from './classScores.js';

export interface RadialParameters {
  /** [features][centres]. */
  readonly centres: Float32Array;
  /** [classes][centres]. */
  readonly coefficients: Float32Array;
  readonly biases: Float32Array;
  /** Of the kernel exp(-gamma * squared distance). */
  readonly gamma: number;
}

/** Margins of a kernel machine over features. */
export function radialScores({
  centres,
  coefficients,
  biases,
  gamma,
}: RadialParameters): ClassScores<Float64Array> {
  const count = coefficients.length / biases.length;
  return (features) => {
    const distances = new Float64Array(count);
    for (let i = 0; i < features.length; i++) {
      for (let k = 0; k < count; k++) {
        const difference = features[i] - centres[i * count + k];
        distances[k] += difference * difference;
      }
    }
    const kernels = distances.map((distance) => Math.exp(-gamma * distance));
    return Float64Array.from(biases, (bias, c) =>
      kernels.reduce((sum, value, k) => sum + value * coefficients[c * count + k], bias),
    );
  };
}
