import type { ClassScores } from './classScores.js';

export interface LinearParameters {
  readonly weights: Float32Array;
  readonly biases: Float32Array;
}

/** Weights lie [pixels][classes]; rows may be padded. */
export function linearScores({ weights, biases }: LinearParameters): ClassScores {
  return (pixels) => {
    const stride = weights.length / pixels.length;
    const scores = Float64Array.from(biases);
    for (let k = 0; k < pixels.length; k++) {
      const value = pixels[k];
      if (value === 0) continue;
      for (let c = 0; c < scores.length; c++) scores[c] += value * weights[k * stride + c];
    }
    return scores;
  };
}

/** Margins of one hyperplane a class; weights lie [classes][features]. */
export function hyperplaneScores({ weights, biases }: LinearParameters): ClassScores<Float64Array> {
  return (features) =>
    Float64Array.from(biases, (bias, c) => {
      let margin = bias;
      for (let k = 0; k < features.length; k++) margin += features[k] * weights[c * features.length + k];
      return margin;
    });
}
