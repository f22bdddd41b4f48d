import { deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  builtInModelPath,
  digitAt,
  loadDigits,
  loadKernelModel,
  plainEvaluation,
} from '../../containers/models/index.js';
import { ServedProcess } from './servedProcess.js';
import { TritonClient, type InputTensor } from './tritonClient.js';

const { heldOut } = loadDigits();

function digits(indices: readonly number[]): InputTensor {
  const values = new Float32Array(indices.length * 784);
  indices.forEach((index, row) => values.set(digitAt(heldOut, index), row * 784));
  const bytes = new Uint8Array(values.buffer);
  return { name: 'pixels', datatype: 'FP32', shape: [indices.length, 784], bytes };
}

interface Statistics {
  readonly inference_count: number;
  readonly execution_count: number;
  readonly inference_stats: Record<string, { count: number; ns: number }>;
  readonly batch_stats: readonly { batch_size: number; compute_infer: { count: number } }[];
}

describe('a client of Triton', () => {
  let served: ServedProcess;
  let client: TritonClient;
  beforeAll(async () => {
    served = await ServedProcess.start(['--ephemeral', '--v2-repository-control']);
    client = new TritonClient(served.query);
  });
  afterAll(() => served.end('SIGTERM'));

  const statistics = async () => {
    const { model_stats } = (await client.get('v2/models/digits-mlp/stats')) as { model_stats: Statistics[] };
    return model_stats[0];
  };

  it('finds the server, its extensions, the model and its tensors', async () => {
    expect(await client.get('v2')).toMatchObject({
      name: 'windjammer',
      extensions: expect.arrayContaining(['binary_tensor_data', 'model_repository', 'statistics']) as unknown,
    });
    expect(await client.isModelReady('digits-mlp')).toBe(true);
    expect(await client.isModelReady('digits-mlp', '1')).toBe(true);
    expect(await client.get('v2/models/digits-mlp')).toMatchObject({
      inputs: [{ name: 'pixels', datatype: 'FP32', shape: [-1, 784] }],
      outputs: [{ name: 'label' }, { name: 'scores' }],
    });
    await expect(client.get('v2/models/nobody')).rejects.toMatchObject({ status: 404 });
  });

  it('gets the labels of the plain evaluation as binary data, whatever the body is encoded as', async () => {
    const evaluate = plainEvaluation(loadKernelModel(builtInModelPath('digits-mlp')));
    const indices = Array.from({ length: 40 }, (_, row) => (row * 53) % heldOut.count);
    const ways = [
      [undefined, {}],
      [gzipSync, { 'content-encoding': 'gzip' }],
      [deflateSync, { 'content-encoding': 'deflate' }],
    ] as const;
    for (const [encode, headers] of ways) {
      const outputs = await client.infer('digits-mlp', [digits(indices)], {}, encode, headers);
      const label = outputs.get('label');
      const bytes = label?.bytes ?? Buffer.alloc(0);
      const labels = indices.map((_, row) => String(bytes.readBigInt64LE(row * 8)));
      expect(labels).toEqual(indices.map((index) => evaluate(digitAt(heldOut, index)).label));
      expect(outputs.get('scores')).toMatchObject({ datatype: 'FP32', shape: [40, 10] });
      expect(outputs.get('scores')?.bytes.length).toBe(1600);
    }
  });

  it('asks for the best classes', async () => {
    const outputs = [{ name: 'scores', parameters: { classification: 2, binary_data: true } }];
    const scores = (await client.infer('digits-mlp', [digits([0])], { outputs })).get('scores');
    expect([scores?.datatype, scores?.shape]).toEqual(['BYTES', [1, 2]]);
    const text = scores?.bytes ?? Buffer.alloc(0);
    const first = text.subarray(4, 4 + text.readUInt32LE(0)).toString();
    const [value, index, label] = first.split(':');
    expect(Number(value)).toBeGreaterThan(0);
    expect(index).toBe(label);
  });

  it('reads statistics that add up', async () => {
    const before = await statistics();
    // Nobody has asked for these.
    const indices = Array.from({ length: 16 }, (_, row) => 1 + ((row * 59) % (heldOut.count - 1)));
    await client.infer('digits-mlp', [digits(indices)]);
    await client.infer('digits-mlp', [digits(indices)]);
    const after = await statistics();
    const grown = (name: string) => after.inference_stats[name].count - before.inference_stats[name].count;
    expect(grown('success')).toBe(2);
    expect(grown('cache_hit') + grown('cache_miss')).toBe(32);
    const computed = after.inference_count - before.inference_count;
    expect(grown('cache_hit')).toBe(32 - computed);
    for (const part of ['compute_input', 'compute_infer', 'compute_output']) {
      expect(grown(part), part).toBe(computed);
      expect(after.inference_stats[part].ns, part).toBeGreaterThan(0);
    }
    const executions = after.batch_stats.reduce((sum, { compute_infer }) => sum + compute_infer.count, 0);
    expect(executions).toBe(after.execution_count);
  });

  it('unloads a model, finds it so, and loads it again', async () => {
    expect(await client.index()).toContainEqual({
      name: 'digits-mlp',
      version: '1',
      state: 'READY',
      reason: '',
    });
    await client.unload('digits-mlp');
    expect(await client.isModelReady('digits-mlp')).toBe(false);
    // The cache has this one.
    await expect(client.infer('digits-mlp', [digits([0])])).rejects.toMatchObject({
      status: 503,
      message: "'digits-mlp' is unloaded",
    });
    await expect
      .poll(() => client.index())
      .toContainEqual({ name: 'digits-mlp', version: '1', state: 'UNAVAILABLE', reason: 'unloaded' });
    await client.load('digits-mlp');
    expect(await client.isModelReady('digits-mlp')).toBe(true);
    expect((await client.infer('digits-mlp', [digits([2])])).size).toBe(2);
    await expect(client.load('nobody')).rejects.toMatchObject({ status: 404 });
  });
});
