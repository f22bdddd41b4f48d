import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { plainEvaluation } from '../evaluation/plainEvaluation.js';
import { builtInModelPath, loadKernelModel } from '../kernelModel.js';
import { packageRoot } from '../packageRoot.js';
import { CLASSES, PIXELS, digitAt, loadDigits, type DigitSet } from './digits.js';
import type { DenseLayer } from './denseLayer.js';
import { trainNetwork, type TrainingPlan } from './network.js';

/**
 * Trains the two digit models and writes their weights and the sample digits. The same Node gives the same bytes.
 *   npm run build && node dist/containers/models/training/main.js
 */
const COMMON = {
  seed: 20170327,
  batchSize: 32,
  rate: 0.05,
  momentum: 0.9,
  weightDecay: 1e-4,
  shiftPixels: 1,
};
const LOGISTIC: TrainingPlan = { ...COMMON, hidden: 0, epochs: 30 };
const PERCEPTRON: TrainingPlan = { ...COMMON, hidden: 32, epochs: 60 };

/** The logistic kernel loads a pixel's weights four at a time: rows are padded with zeros to a multiple of four. */
const LOGISTIC_STRIDE = 12;

function logisticWeights([layer]: readonly DenseLayer[]): Float32Array {
  const padded = new Float32Array(PIXELS * LOGISTIC_STRIDE);
  for (let k = 0; k < PIXELS; k++) {
    padded.set(layer.weights.subarray(k * CLASSES, (k + 1) * CLASSES), k * LOGISTIC_STRIDE);
  }
  return concatenate([padded, layer.biases]);
}

function perceptronWeights([hidden, output]: readonly DenseLayer[]): Float32Array {
  const byClass = new Float32Array(output.weights.length);
  for (let h = 0; h < output.inputs; h++) {
    for (let c = 0; c < CLASSES; c++) byClass[c * output.inputs + h] = output.weights[h * CLASSES + c];
  }
  return concatenate([hidden.weights, hidden.biases, byClass, output.biases]);
}

function concatenate(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** One held-out digit a class, for examples: `[{label, input}]`. */
function samples(heldOut: DigitSet): string {
  const lines = Array.from({ length: CLASSES }, (_, label) => {
    const input = Array.from(digitAt(heldOut, heldOut.labels.indexOf(label)), (value) =>
      Number(value.toFixed(3)),
    );
    return JSON.stringify({ label: String(label), input });
  });
  return `[\n${lines.join(',\n')}\n]\n`;
}

function accuracy(modelPath: string, set: DigitSet): number {
  const evaluate = plainEvaluation(loadKernelModel(modelPath));
  let right = 0;
  for (let k = 0; k < set.count; k++)
    if (evaluate(digitAt(set, k)).label === String(set.labels[k])) right += 1;
  return right / set.count;
}

const { training, heldOut } = loadDigits();
const models = [
  { path: builtInModelPath('digits-logistic'), plan: LOGISTIC, pack: logisticWeights },
  { path: builtInModelPath('digits-mlp'), plan: PERCEPTRON, pack: perceptronWeights },
];
for (const { path, plan, pack } of models) {
  const weights = pack(trainNetwork(training, plan));
  writeFileSync(join(packageRoot(), path, 'weights.bin'), new Uint8Array(weights.buffer));
  const shown = [accuracy(path, training), accuracy(path, heldOut)].map((share) => share.toFixed(4));
  console.log(
    `${path}: seed ${plan.seed}, accuracy ${shown[0]} on training digits, ${shown[1]} on held-out digits`,
  );
}
writeFileSync(join(packageRoot(), 'containers/models/samples/heldOutDigits.json'), samples(heldOut));
