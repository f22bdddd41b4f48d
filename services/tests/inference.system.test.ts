import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  builtInModelPath,
  digitAt,
  loadDigits,
  loadKernelModel,
  plainEvaluation,
} from '../../containers/models/index.js';
import { ServedProcess } from './servedProcess.js';

describe('digits by the Open Inference Protocol', () => {
  let served: ServedProcess;
  beforeAll(async () => {
    served = await ServedProcess.start(['--ephemeral']);
  });
  afterAll(() => served.end('SIGTERM'));

  it('get the labels of the plain evaluation, rows of concurrent requests each in their order', async () => {
    const { heldOut } = loadDigits();
    const evaluate = plainEvaluation(loadKernelModel(builtInModelPath('digits-mlp')));
    const url = `${served.query}/v2/models/digits-mlp/infer`;
    let first = 0;
    const requests = [1, 2, 5, 32, 3, 1].map(async (size) => {
      const indices = Array.from({ length: size }, (_, row) => ((first + row) * 37) % heldOut.count);
      first += size;
      const data = indices.map((index) => [...digitAt(heldOut, index)]);
      const inputs = [{ name: 'pixels', datatype: 'FP32', shape: [size, 784], data }];
      const { status, json, text } = await served.post(url, { inputs });
      expect(status, text).toBe(200);
      const { outputs } = json as { outputs: { name: string; shape: number[]; data: number[] }[] };
      const labels = indices.map((index) => Number(evaluate(digitAt(heldOut, index)).label));
      expect(outputs[0]).toMatchObject({ name: 'label', shape: [size], data: labels });
      expect(outputs[1]).toMatchObject({ name: 'scores', shape: [size, 10] });
      expect(outputs[1].data).toHaveLength(size * 10);
    });
    await Promise.all(requests);
  });
});
