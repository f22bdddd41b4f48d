import type { ForestParameters } from '../evaluation/forestShares.js';
import type { LinearParameters } from '../evaluation/linearScores.js';
import type { PerceptronParameters } from '../evaluation/perceptronScores.js';
import type { RadialParameters } from '../evaluation/radialScores.js';
import type { DenseLayer } from './denseLayer.js';
import { CLASSES } from './digits.js';
import type { Hyperplanes } from './linearSvm.js';

/** The logistic kernel loads a pixel's weights four at a time: rows are padded with zeros to a multiple of four. */
const LOGISTIC_STRIDE = 12;

type Values = Float32Array | Uint32Array;

export function logisticParameters([layer]: readonly DenseLayer[]): LinearParameters {
  const weights = new Float32Array(layer.inputs * LOGISTIC_STRIDE);
  for (let k = 0; k < layer.inputs; k++) {
    weights.set(layer.weights.subarray(k * CLASSES, (k + 1) * CLASSES), k * LOGISTIC_STRIDE);
  }
  return { weights, biases: layer.biases };
}

export function perceptronParameters([hidden, output]: readonly DenseLayer[]): PerceptronParameters {
  const outputWeights = new Float32Array(output.weights.length);
  for (let h = 0; h < output.inputs; h++) {
    for (let c = 0; c < CLASSES; c++) outputWeights[c * output.inputs + h] = output.weights[h * CLASSES + c];
  }
  return {
    hiddenWeights: hidden.weights,
    hiddenBiases: hidden.biases,
    outputWeights,
    outputBiases: output.biases,
  };
}

/** The hyperplanes as they lie in memory, [classes][features]: a warp of the kernel reads one class's row. */
export function hyperplaneParameters({ weights, biases }: Hyperplanes): LinearParameters {
  return { weights: Float32Array.from(weights), biases: Float32Array.from(biases) };
}

export const logisticBytes = ({ weights, biases }: LinearParameters): Uint8Array => joined(weights, biases);

export const perceptronBytes = (parameters: PerceptronParameters): Uint8Array =>
  joined(
    parameters.hiddenWeights,
    parameters.hiddenBiases,
    parameters.outputWeights,
    parameters.outputBiases,
  );

export const hyperplaneBytes = ({ weights, biases }: LinearParameters, scale: number): Uint8Array =>
  joined(weights, biases, Float32Array.of(scale));

export const radialBytes = (
  { centres, coefficients, biases, gamma }: RadialParameters,
  scale: number,
): Uint8Array => joined(centres, coefficients, biases, Float32Array.of(gamma), Float32Array.of(scale));

export const forestBytes = ({ nodes }: ForestParameters): Uint8Array => joined(nodes);

/** The tensors one after the other, as `weights.bin` holds them. */
function joined(...parts: readonly Values[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let offset = 0;
  for (const { buffer, byteOffset, byteLength } of parts) {
    whole.set(new Uint8Array(buffer, byteOffset, byteLength), offset);
    offset += byteLength;
  }
  return whole;
}
