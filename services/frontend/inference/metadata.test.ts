import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, InferenceHarness } from '../tests/inference/inferenceHarness.js';

let harness: InferenceHarness;

beforeAll(async () => {
  harness = await InferenceHarness.start();
});
afterAll(() => harness.close());
beforeEach(() => harness.reset());

describe('metadata and health', () => {
  it('say what the server is and whether it lives', async () => {
    expect((await harness.get('/v2')).json).toEqual({
      name: 'windjammer',
      version: expect.any(String) as string,
      extensions: [
        'binary_tensor_data',
        'classification',
        'model_configuration',
        'model_repository',
        'schedule_policy',
        'statistics',
      ],
    });
    expect((await harness.get('/v2/health/live')).json).toEqual({ live: true });
    expect((await harness.get('/v2/health/ready/')).json).toEqual({ ready: true });
  });

  it('describe a kernel model by its manifest', async () => {
    expect((await harness.get('/v2/models/digits')).json).toEqual({
      name: 'digits',
      versions: ['1'],
      platform: 'windjammer_kernelModel',
      inputs: [{ name: 'pixels', datatype: 'FP32', shape: [-1, 784] }],
      outputs: [
        { name: 'label', datatype: 'INT64', shape: [-1] },
        { name: 'scores', datatype: 'FP32', shape: [-1, 10] },
      ],
    });
  });

  it('describe every input type, versions, and applications', async () => {
    const datatypes = {
      doubles: 'FP64',
      floats: 'FP32',
      integers: 'INT32',
      bytes: 'UINT8',
      strings: 'BYTES',
    };
    for (const [type, datatype] of Object.entries(datatypes)) {
      const shape = datatype === 'BYTES' ? [-1] : [-1, -1];
      expect((await harness.get(`/v2/models/m-${type}`)).json).toMatchObject({
        inputs: [{ datatype, shape }],
      });
    }
    expect((await harness.get('/v2/models/pair/versions/1')).json).toMatchObject({ versions: ['1', '2'] });
    expect((await harness.get('/v2/models/floats')).json).toMatchObject({
      platform: 'windjammer_application',
      outputs: [{ name: 'label' }, { name: 'confidence' }],
    });
  });

  it('tell whether a model is ready', async () => {
    expect((await harness.get('/v2/models/pair/versions/2/ready')).json).toEqual({
      name: 'pair',
      ready: true,
    });
    harness.service.modelsReady = false;
    const answer = await harness.get('/v2/models/pair/ready');
    expect([answer.status, errorOf(answer)]).toEqual([503, "'pair' has no replica that is up"]);
    const index = await harness.post('/v2/repository/index', {});
    expect(index.json).toContainEqual({
      name: 'pair',
      version: '2',
      state: 'UNAVAILABLE',
      reason: 'no replica is up',
    });
    expect((await harness.post('/v2/repository/index', { ready: true })).json).toEqual([]);
    expect((await harness.inner.send('/v2/repository/index')).status).toBe(200);
  });
});

it('of a model named stats are its own, and else the path has the statistics of all', async () => {
  const own = await InferenceHarness.start();
  try {
    expect((await own.get('/v2/models/stats')).json).toHaveProperty('model_stats');
    await own.addModel('stats', 'floats');
    expect((await own.get('/v2/models/stats')).json).toMatchObject({ name: 'stats', versions: ['1'] });
  } finally {
    await own.close();
  }
});
