import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, floats, InferenceHarness, JSON_TYPE, tensor } from '../tests/inference/inferenceHarness.js';

let harness: InferenceHarness;

beforeAll(async () => {
  harness = await InferenceHarness.start({ maxBodyBytes: 1024 * 1024 });
});
afterAll(() => harness.close());
beforeEach(() => harness.reset());

describe('bad requests', () => {
  const good = { name: 'input', datatype: 'FP32', shape: [1, 2], data: [1, 2] };
  const CASES: readonly [what: string, body: unknown, status: number, says: string][] = [
    ['an array', [], 400, 'the body must be an object'],
    ['no inputs', {}, 400, 'inputs is required'],
    ['inputs an object', { inputs: good }, 400, 'inputs must be an array'],
    ['empty inputs', { inputs: [] }, 400, "inputs must have the tensor 'input'"],
    ['null for a tensor', { inputs: [null] }, 400, 'inputs[0] must be an object'],
    ['no name', { inputs: [{ ...good, name: undefined }] }, 400, 'inputs[0].name is required'],
    ['another name', { inputs: [{ ...good, name: '__proto__' }] }, 400, "inputs[0].name must be 'input'"],
    ['a name twice', { inputs: [good, good] }, 400, "inputs[1].name: 'input' is given twice"],
    ['no datatype', { inputs: [{ ...good, datatype: undefined }] }, 400, 'inputs[0].datatype is required'],
    [
      'an unknown datatype',
      { inputs: [{ ...good, datatype: 'FP33' }] },
      400,
      'inputs[0].datatype must be one of',
    ],
    ['a datatype of Object', { inputs: [{ ...good, datatype: 'constructor' }] }, 400, 'inputs[0].datatype'],
    [
      'another datatype',
      { inputs: [{ ...good, datatype: 'INT64' }] },
      400,
      'inputs[0].datatype must be FP32 here',
    ],
    ['no shape', { inputs: [{ ...good, shape: undefined }] }, 400, 'inputs[0].shape is required'],
    ['no dimensions', { inputs: [{ ...good, shape: [] }] }, 400, 'inputs[0].shape must have 1 to 8'],
    [
      'nine dimensions',
      { inputs: [{ ...good, shape: Array(9).fill(1) }] },
      400,
      'inputs[0].shape must have 1 to 8',
    ],
    ['zero rows', { inputs: [{ ...good, shape: [0, 2], data: [] }] }, 400, 'inputs[0].shape[0] must be'],
    ['zero elements', { inputs: [{ ...good, shape: [1, 0], data: [] }] }, 400, 'inputs[0].shape[1] must be'],
    ['a negative dimension', { inputs: [{ ...good, shape: [-1, 2] }] }, 400, 'inputs[0].shape[0] must be'],
    ['half a dimension', { inputs: [{ ...good, shape: [1.5, 2] }] }, 400, 'inputs[0].shape[0] must be'],
    ['2^53 rows', { inputs: [{ ...good, shape: [2 ** 53, 2] }] }, 400, 'inputs[0].shape[0] must be'],
    [
      '2^52 rows',
      { inputs: [{ ...good, shape: [2 ** 52, 2] }] },
      413,
      'inputs[0].shape[0] may be at most 4096',
    ],
    ['2^52 elements', { inputs: [{ ...good, shape: [1, 2 ** 52] }] }, 400, 'inputs[0].shape must be [n, 2]'],
    ['the row as a shape', { inputs: [{ ...good, shape: [2] }] }, 400, 'inputs[0].shape must be [n, 2]'],
    ['no data', { inputs: [{ ...good, data: undefined }] }, 400, 'inputs[0].data is required'],
    ['too little data', { inputs: [{ ...good, data: [1] }] }, 400, 'inputs[0].data has 1 elements'],
    ['too much data', { inputs: [{ ...good, data: [1, 2, 3] }] }, 400, 'inputs[0].data has 3 elements'],
    ['a row too long', { inputs: [{ ...good, data: [[1, 2, 3]] }] }, 400, 'inputs[0].data[0] has 3 elements'],
    ['nested too deep', { inputs: [{ ...good, data: [[[1], [2]]] }] }, 400, 'inputs[0].data[0] must be'],
    ['text in numbers', { inputs: [{ ...good, data: [1, '2'] }] }, 400, 'inputs[0].data[1] must be'],
    ['beyond FP32', { inputs: [{ ...good, data: [1, 1e39] }] }, 400, 'inputs[0].data[1] must be'],
    ['an unknown output', { inputs: [good], outputs: [{ name: 'toString' }] }, 400, 'outputs[0].name'],
    [
      'an output twice',
      { inputs: [good], outputs: [{ name: 'label' }, { name: 'label' }] },
      400,
      'outputs[1].name',
    ],
    ['a number as id', { id: 7, inputs: [good] }, 400, 'id must be a string'],
    [
      'a timeout of text',
      { parameters: { timeout: '1' }, inputs: [good] },
      400,
      'parameters.timeout must be',
    ],
    [
      'a negative timeout',
      { parameters: { timeout: -1 }, inputs: [good] },
      400,
      'parameters.timeout must be',
    ],
    [
      'a negative priority',
      { parameters: { priority: -1 }, inputs: [good] },
      400,
      'parameters.priority must be',
    ],
    ['a nested parameter', { parameters: { x: {} }, inputs: [good] }, 400, 'parameters.x must be'],
    ['priority 6', { parameters: { priority: 6 }, inputs: [good] }, 400, 'parameters.priority must be'],
    [
      'half a priority',
      { parameters: { priority: 1.5 }, inputs: [good] },
      400,
      'parameters.priority must be',
    ],
    [
      'a sequence',
      { parameters: { sequence_id: 3 }, inputs: [good] },
      501,
      'parameters.sequence_id: sequences are not supported',
    ],
    [
      'shared memory',
      { inputs: [{ ...good, parameters: { shared_memory_region: 'r' } }] },
      501,
      'inputs[0].parameters.shared_memory_region: shared memory',
    ],
    [
      'the size of an output',
      { inputs: [good], outputs: [{ name: 'label', parameters: { binary_data_size: 8 } }] },
      400,
      "'binary_data_size' is a parameter of an input",
    ],
    [
      'binary_data of the request',
      { inputs: [good], parameters: { binary_data: true } },
      400,
      "'binary_data' is a parameter of an output",
    ],
    [
      'a number for binary_data',
      { inputs: [good], outputs: [{ name: 'label', parameters: { binary_data: 1 } }] },
      400,
      'outputs[0].parameters.binary_data must be a boolean',
    ],
  ];

  it.each(CASES)(
    '%s gets %s: an error in the shape of the protocol, and no model call',
    async (_what, body, status, says) => {
      const answer = await harness.infer('pair', body);
      expect(answer.status, answer.text).toBe(status);
      expect(errorOf(answer)).toContain(says);
      expect(harness.service.evaluations).toEqual([]);
    },
  );

  it('may put nothing but strings into BYTES', async () => {
    for (const element of [1, null, true, { b64: 'QQ==' }, []]) {
      for (const model of ['m-bytes', 'm-strings']) {
        const answer = await harness.infer(model, { inputs: [tensor('BYTES', [1], [element])] });
        expect(answer.status, answer.text).toBe(400);
        errorOf(answer);
      }
    }
    expect(harness.service.evaluations).toEqual([]);
  });

  it('have the shape of the protocol on every route', async () => {
    const json = JSON_TYPE;
    const cases: readonly [
      path: string,
      method: string,
      body: string | undefined,
      headers: object,
      status: number,
    ][] = [
      ['/v2/nothing', 'GET', undefined, {}, 404],
      ['/v2/predict', 'POST', '{}', json, 404],
      ['/v2/models', 'GET', undefined, {}, 404],
      ['/v2/models//infer', 'POST', '{}', json, 404],
      ['/v2/models/__proto__', 'GET', undefined, {}, 404],
      ['/v2/models/__proto__/infer', 'POST', '{}', json, 404],
      ['/v2/models/constructor/ready', 'GET', undefined, {}, 404],
      ['/v2/models/pair/versions/9/infer', 'POST', '{}', json, 404],
      ['/v2/models/pair/versions/9', 'GET', undefined, {}, 404],
      ['/v2/models/pair/toString', 'GET', undefined, {}, 404],
      ['/v2/models/%E2%98/infer', 'POST', '{}', json, 400],
      ['/v2/models/pair/infer', 'GET', undefined, {}, 405],
      ['/v2', 'POST', '{}', json, 405],
      ['/v2/health/live', 'DELETE', undefined, {}, 405],
      ['/v2/models/pair/infer', 'POST', 'x', { 'content-type': 'text/plain' }, 415],
      ['/v2/models/pair/infer', 'POST', `"${'x'.repeat(1100 * 1024)}"`, json, 413],
      ['/v2/models/pair/infer', 'POST', '{"inputs":', json, 400],
      ['/v2/models/pair/infer', 'POST', `{"inputs":${'['.repeat(100_000)}`, json, 400],
      ['/v2/models/pair/infer', 'POST', `{"inputs":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, json, 400],
      ['/v2/models/pair/infer', 'POST', 'x', { 'inference-header-content-length': '1' }, 400],
      ['/v2/repository/index', 'POST', '[]', json, 400],
      ['/v2/repository/index', 'POST', '{"ready":1}', json, 400],
    ];
    for (const [path, method, body, headers, status] of cases) {
      const answer = await harness.inner.send(path, {
        method,
        body,
        headers: headers as Record<string, string>,
      });
      expect(answer.status, `${method} ${path}: ${answer.text}`).toBe(status);
      errorOf(answer);
    }
    expect(harness.service.evaluations).toEqual([]);
  });

  it('of names that nobody has are told apart in no metric: whoever makes names up fills no memory', async () => {
    const { refused } = harness.inner;
    refused.length = 0;
    for (let k = 0; k < 50; k++) {
      expect((await harness.infer(`random-${k}`, floats([[1, 2]]))).status).toBe(404);
    }
    expect(new Set(refused)).toEqual(new Set(['-:unknown_model']));
    const { model_stats } = (await harness.get('/v2/models/stats')).json as { model_stats: unknown[] };
    expect(model_stats).toHaveLength(harness.inner.registry.models().length);
  });

  it('empty tensors leave the next hundred requests as they were', async () => {
    for (const shape of [[0], [0, 2], [1, 0]]) {
      expect((await harness.infer('pair', { inputs: [{ ...good, shape, data: [] }] })).status).toBe(400);
    }
    const empty = { inputs: [tensor('BYTES', [1], [''])] };
    expect((await harness.infer('m-strings', empty)).status).toBe(400);
    for (let k = 0; k < 100; k++) expect((await harness.infer('pair', floats([[k, k]]))).status).toBe(200);
    expect((await harness.get('/v2/models/pair/ready')).status).toBe(200);
  });
});
