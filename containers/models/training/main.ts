import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { plainEvaluation } from '../evaluation/plainEvaluation.js';
import { BUILT_IN_MODELS, builtInModelPath, loadKernelModel } from '../kernelModel.js';
import { packageRoot } from '../../../simulator/files/index.js';
import { CLASSES, digitAt, loadDigits, type DigitSet } from './digits.js';
import { DIGIT_TRAININGS } from './digitModels.js';

/**
 * Trains the digit models, or those that are named, and writes their weights; all of them: the sample digits as well. The same
 * Node gives the same bytes.
 *   npm run build && node dist/containers/models/training/main.js [NAME...]
 */
function main(names: readonly string[]): number {
  const unknown = names.filter((name) => !(BUILT_IN_MODELS as readonly string[]).includes(name));
  if (unknown.length > 0) {
    console.error(`no model is named ${unknown.join(', ')}: choose from ${BUILT_IN_MODELS.join(', ')}`);
    return 2;
  }
  const { training, heldOut } = loadDigits();
  for (const name of BUILT_IN_MODELS) {
    if (names.length > 0 && !names.includes(name)) continue;
    const path = builtInModelPath(name);
    writeFileSync(join(packageRoot(), path, 'weights.bin'), DIGIT_TRAININGS[name](training));
    const [seen, unseen] = [accuracy(path, training), accuracy(path, heldOut)].map((share) =>
      share.toFixed(4),
    );
    console.log(`${path}: accuracy ${seen} on training digits, ${unseen} on held-out digits`);
  }
  if (names.length === 0) {
    writeFileSync(join(packageRoot(), 'containers/models/samples/heldOutDigits.json'), samples(heldOut));
  }
  return 0;
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

process.exitCode = main(process.argv.slice(2));
