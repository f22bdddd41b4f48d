import type { ClassScores } from './classScores.js';
import { linearScores } from './linearScores.js';

export interface PerceptronParameters {
  /** [pixels][units]. */
  readonly hiddenWeights: Float32Array;
  readonly hiddenBiases: Float32Array;
  /** [classes][units]. */
  readonly outputWeights: Float32Array;
  readonly outputBiases: Float32Array;
}

export function perceptronScores(parameters: PerceptronParameters): ClassScores {
  const { hiddenWeights, hiddenBiases, outputWeights, outputBiases } = parameters;
  const hiddenLayer = linearScores({ weights: hiddenWeights, biases: hiddenBiases });
  const units = hiddenBiases.length;
  return (pixels) => {
    const hidden = hiddenLayer(pixels);
    return Float64Array.from(outputBiases, (bias, c) =>
      hidden.reduce((sum, value, h) => sum + Math.max(value, 0) * outputWeights[c * units + h], bias),
    );
  };
}
