import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  builtInModelPath,
  digitAt,
  loadDigits,
  loadKernelModel,
  plainEvaluation,
} from '../../containers/models/index.js';
import { ServedProcess } from './servedProcess.js';

const DIGITS = 1000;
const CLIENT_BATCH = 50;

interface Prediction {
  readonly output: unknown;
  readonly default: boolean;
  readonly models: readonly { readonly name: string }[];
}

describe('a thousand held-out digits through REST', () => {
  let served: ServedProcess;
  beforeAll(async () => {
    served = await ServedProcess.start(['--ephemeral']);
    // The host executes the kernels far slower than the card: an objective that a loaded machine can keep.
    await served.admin('add_app', {
      name: 'mlp',
      input_type: 'floats',
      default_output: '"none"',
      latency_slo_micros: 60_000_000,
    });
    await served.admin('add_model_links', { app_name: 'mlp', model_names: ['digits-mlp'] });
  });
  afterAll(() => served.end('SIGTERM'));

  it('get the label of the plain evaluation, each of them', async () => {
    const { heldOut } = loadDigits();
    const evaluate = plainEvaluation(loadKernelModel(builtInModelPath('digits-mlp')));
    // Spread over all classes: the set is sorted by label.
    const indices = Array.from({ length: DIGITS }, (_, i) => Math.floor((i * heldOut.count) / DIGITS));
    let correct = 0;
    for (let first = 0; first < DIGITS; first += CLIENT_BATCH) {
      const part = indices.slice(first, first + CLIENT_BATCH);
      const inputs = part.map((index) => [...digitAt(heldOut, index)]);
      const { json } = await served.post(`${served.query}/mlp/predict`, { input_batch: inputs });
      const answers = (json as { batch_predictions: Prediction[] }).batch_predictions;
      expect(answers).toHaveLength(part.length);
      answers.forEach((answer, k) => {
        expect(answer).toMatchObject({ default: false, models: [{ name: 'digits-mlp' }] });
        const index = part[k];
        expect(String(answer.output), `digit ${index}`).toBe(evaluate(digitAt(heldOut, index)).label);
        if (answer.output === heldOut.labels[index]) correct += 1;
      });
    }
    expect(correct / DIGITS).toBeGreaterThan(0.935);
  });
});
