import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { builtInModelPath } from '../../../containers/models/index.js';
import type { InputType } from '../../../containers/protocol/index.js';
import type { ModelRecord } from '../../registry/index.js';
import { FrontendHarness, type HttpAnswer } from './harness.js';

let harness: FrontendHarness;

beforeAll(async () => {
  harness = await FrontendHarness.start({ maxBodyBytes: 1024 * 1024 });
  const model = (name: string, inputType: InputType, more: Partial<ModelRecord> = {}) =>
    harness.registry.addModel({
      name,
      version: '1',
      inputType,
      labels: [],
      container: { kind: 'external', containerName: 'test', modelDataPath: '' },
      batching: { strategy: 'aimd' },
      ...more,
    });
  for (const type of ['doubles', 'floats', 'integers', 'bytes', 'strings'] as const) {
    await model(`m-${type}`, type);
  }
  await model('pair', 'floats', { inputLength: 2 });
  await model('pair', 'floats', { inputLength: 2, version: '2' });
  await model('whole', 'floats', { container: { kind: 'constant', output: '3' } });
  await model('decimal', 'floats', { container: { kind: 'constant', output: '0.5' } });
  await model('digits', 'floats', {
    inputLength: 784,
    container: { kind: 'kernelModel', path: builtInModelPath('digits-mlp') },
  });
  // A clash: the application 'doubles' has a model of its name from here on.
  await model('doubles', 'doubles');
});
afterAll(() => harness.close());
beforeEach(() => {
  harness.service.evaluations.length = 0;
  harness.service.queries.length = 0;
  harness.service.cancelled.length = 0;
  harness.service.holding = false;
  harness.service.modelsReady = true;
  harness.service.reply = () => ({});
  harness.service.vote = ({ model, version }) => ({ name: model, version, cached: false, output: '7' });
});

const get = (path: string) => harness.send(path, { method: 'GET' });
const post = (path: string, body: unknown, headers?: Record<string, string>) =>
  harness.send(path, { body: JSON.stringify(body), headers });
const infer = (name: string, body: unknown, headers?: Record<string, string>) =>
  post(`/v2/models/${name}/infer`, body, headers);

function tensor(datatype: string, shape: unknown, data: unknown, more: object = {}): object {
  return { name: 'input', datatype, shape, data, ...more };
}
const floats = (rows: readonly (readonly number[])[]) => ({
  inputs: [tensor('FP32', [rows.length, rows[0].length], rows)],
});

function error({ json }: HttpAnswer): string {
  expect(json).toEqual({ error: expect.any(String) as string });
  return (json as { error: string }).error;
}

describe('metadata and health', () => {
  it('say what the server is and whether it lives', async () => {
    expect((await get('/v2')).json).toEqual({
      name: 'windjammer',
      version: expect.any(String) as string,
      extensions: ['statistics', 'model_repository'],
    });
    expect((await get('/v2/health/live')).json).toEqual({ live: true });
    expect((await get('/v2/health/ready/')).json).toEqual({ ready: true });
  });

  it('describe a kernel model by its manifest', async () => {
    expect((await get('/v2/models/digits')).json).toEqual({
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
      expect((await get(`/v2/models/m-${type}`)).json).toMatchObject({ inputs: [{ datatype, shape }] });
    }
    expect((await get('/v2/models/pair/versions/1')).json).toMatchObject({ versions: ['1', '2'] });
    expect((await get('/v2/models/floats')).json).toMatchObject({
      platform: 'windjammer_application',
      outputs: [{ name: 'label' }, { name: 'confidence' }],
    });
  });

  it('tell whether a model is ready', async () => {
    expect((await get('/v2/models/pair/versions/2/ready')).json).toEqual({ name: 'pair', ready: true });
    harness.service.modelsReady = false;
    const answer = await get('/v2/models/pair/ready');
    expect([answer.status, error(answer)]).toEqual([503, "'pair' has no replica that is up"]);
    const index = await post('/v2/repository/index', {});
    expect(index.json).toContainEqual({
      name: 'pair',
      version: '2',
      state: 'UNAVAILABLE',
      reason: 'no replica is up',
    });
    expect((await post('/v2/repository/index', { ready: true })).json).toEqual([]);
    expect((await harness.send('/v2/repository/index')).status).toBe(200);
  });

  it('refuse to load and unload by name', async () => {
    for (const verb of ['load', 'unload']) {
      const answer = await post(`/v2/repository/models/pair/${verb}`, {});
      expect([answer.status, error(answer).startsWith(`${verb} is not done`)]).toEqual([501, true]);
    }
  });
});

describe('inference', () => {
  it('asks the model one query a row and joins the answers', async () => {
    harness.service.vote = ({ model, version, input }) => ({
      name: model,
      version,
      cached: false,
      output: String(new Float32Array(input.slice().buffer)[1]),
    });
    const answer = await infer('pair', {
      id: 'a"b',
      ...floats([
        [1, 2],
        [3, 4],
        [5, 6],
      ]),
    });
    expect(answer.json).toEqual({
      model_name: 'pair',
      model_version: '2',
      id: 'a"b',
      outputs: [{ name: 'label', datatype: 'BYTES', shape: [3], data: ['2', '4', '6'] }],
    });
    expect(harness.service.evaluations.map(({ version }) => version)).toEqual(['2', '2', '2']);
    const first = await post('/v2/models/pair/versions/1/infer', floats([[1, 2]]));
    expect(first.json).toMatchObject({ model_version: '1' });
  });

  it('takes flat and nested data of every datatype', async () => {
    const cases: readonly [string, object, Uint8Array][] = [
      ['m-doubles', tensor('FP64', [1, 2], [1, 2.5]), new Uint8Array(Float64Array.of(1, 2.5).buffer)],
      ['m-floats', tensor('FP32', [1, 2, 1], [[[1], [2.5]]]), new Uint8Array(Float32Array.of(1, 2.5).buffer)],
      ['m-integers', tensor('INT32', [1, 2], [[-1, 2]]), new Uint8Array(Int32Array.of(-1, 2).buffer)],
      ['m-bytes', tensor('UINT8', [1, 2], [0, 255]), Uint8Array.of(0, 255)],
      ['m-bytes', tensor('BYTES', [1], ['hé']), Buffer.from('hé')],
      [
        'm-bytes',
        tensor('BYTES', [1, 1], ['AP8='], { parameters: { content_type: 'base64' } }),
        Uint8Array.of(0, 255),
      ],
      ['m-strings', tensor('BYTES', [1, 1], [['text']]), Buffer.from('text')],
    ];
    for (const [model, input, bytes] of cases) {
      harness.service.evaluations.length = 0;
      const answer = await infer(model, { inputs: [input] });
      expect(answer.status, answer.text).toBe(200);
      expect([...harness.service.evaluations[0].input]).toEqual([...bytes]);
    }
  });

  it('types labels by what the model declares', async () => {
    harness.service.vote = ({ model, version }) => ({
      name: model,
      version,
      cached: false,
      output: model === 'whole' ? '3' : '0.5',
    });
    const whole = await infer('whole', floats([[1]]));
    expect(whole.json).toMatchObject({ outputs: [{ datatype: 'INT64', data: [3] }] });
    const decimal = await infer('decimal', floats([[1]]));
    expect(decimal.json).toMatchObject({ outputs: [{ datatype: 'FP64', data: [0.5] }] });
  });

  it('gives scores, with null for what JSON has no number for', async () => {
    const scores = Float32Array.of(0.1, NaN, Infinity, -Infinity, 0, 1, 2, 3, 4, 5);
    harness.service.vote = ({ model, version }) => ({
      name: model,
      version,
      cached: true,
      output: '7',
      scores,
    });
    const pixels = Array<number>(784).fill(0);
    const inputs = [{ name: 'pixels', datatype: 'FP32', shape: [1, 28, 28], data: pixels }];
    // 28 by 28 is 784 elements a row.
    const answer = await infer('digits', { inputs });
    expect((answer.json as { outputs: unknown }).outputs).toEqual([
      { name: 'label', datatype: 'INT64', shape: [1], data: [7] },
      {
        name: 'scores',
        datatype: 'FP32',
        shape: [1, 10],
        data: [0.1, null, null, null, 0, 1, 2, 3, 4, 5].map((one) => (one === 0.1 ? 0.100000001 : one)),
      },
    ]);
  });

  it('keeps parameters, takes the timeout as budget, and passes traceparent on', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const parameters = { timeout: 5000, priority: 2, mine: 'x', __proto: true };
    const outputs = [{ name: 'label', parameters: { note: 1 } }];
    const answer = await infer('pair', { parameters, outputs, ...floats([[1, 2]]) }, { traceparent });
    expect(answer.json).toMatchObject({ parameters, outputs });
    expect(harness.service.evaluations[0]).toMatchObject({ budgetNs: 5_000_000, traceparent });
    await infer('pair', { parameters: { timeout: 0 }, ...floats([[1, 2]]) });
    expect(harness.service.evaluations[1].budgetNs).toBe(30e9);
  });

  it('asks an application when no model has the name, or with application: before it', async () => {
    const answer = await infer('floats', floats([[1], [2]]));
    expect(answer.json).toEqual({
      model_name: 'floats',
      outputs: [
        { name: 'label', datatype: 'BYTES', shape: [2], data: ['7', '7'] },
        { name: 'confidence', datatype: 'FP32', shape: [2], data: [1, 1] },
      ],
    });
    const inputs = [tensor('FP64', [1, 1], [1])];
    expect((await infer('doubles', { inputs })).json).toMatchObject({ model_version: '1' });
    expect(harness.service.queries).toHaveLength(2);
    await infer('application:doubles', { inputs, parameters: { timeout: 1000 } });
    expect(harness.service.queries[2]).toMatchObject({ application: 'doubles', budgetNs: 1e6 });
  });

  it('fails as a whole when one row has no answer, and withdraws the others', async () => {
    const statuses = { deadline: 504, no_replica: 503, overload: 503, model_error: 502 } as const;
    for (const [missing, status] of Object.entries(statuses)) {
      harness.service.vote = ({ model, version, input }) => ({
        name: model,
        version,
        cached: false,
        ...(input[3] === 0x40 ? { missing: missing as keyof typeof statuses } : { output: '1' }),
      });
      const answer = await infer(
        'pair',
        floats([
          [1, 1],
          [2, 2],
          [1, 1],
        ]),
      );
      expect([answer.status, error(answer).startsWith('row 1: ')]).toEqual([status, true]);
    }
    harness.service.reply = () => ({ isDefault: true, defaultReason: 'deadline' });
    expect((await infer('floats', floats([[1]]))).status).toBe(504);
  });

  it('counts what it did, in the form of the statistics extension', async () => {
    const shown = async () =>
      ((await get('/v2/models/m-floats/stats')).json as { model_stats: Record<string, unknown>[] })
        .model_stats[0];
    const before = (await shown()).inference_stats as { success: { count: number } };
    await infer('m-floats', floats([[1]]));
    harness.frontend.onBatch({
      model: 'm-floats',
      version: '1',
      replica: '0',
      size: 3,
      limit: 4,
      newLimit: 4,
      longestQueueNs: 50,
      totalQueueNs: 90,
      serviceNs: 1000,
      roundTripNs: 2000,
      failed: 1,
      failure: 'no',
    });
    const stats = await shown();
    expect(stats).toMatchObject({
      name: 'm-floats',
      version: '1',
      inference_count: 2,
      execution_count: 1,
      inference_stats: {
        success: { count: before.success.count + 1 },
        queue: { count: 3, ns: 90 },
        compute_infer: { count: 1, ns: 1000 },
      },
      batch_stats: [{ batch_size: 3, compute_infer: { count: 1, ns: 1000 } }],
    });
    const all = (await get('/v2/models/stats')).json as { model_stats: unknown[] };
    expect(all.model_stats).toHaveLength(harness.registry.models().length);
  });
});

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
    [
      'binary output',
      { parameters: { binary_data_output: true }, inputs: [good] },
      501,
      'parameters.binary_data_output',
    ],
    [
      'binary input',
      { inputs: [{ ...good, data: undefined, parameters: { binary_data_size: 8 } }] },
      501,
      'inputs[0].parameters.binary_data_size',
    ],
  ];

  it.each(CASES)(
    'B7: %s gets %s: an error in the shape of the protocol, and no model call',
    async (_what, body, status, says) => {
      const answer = await infer('pair', body);
      expect(answer.status, answer.text).toBe(status);
      expect(error(answer)).toContain(says);
      expect(harness.service.evaluations).toEqual([]);
    },
  );

  it('have the shape of the protocol on every route', async () => {
    const json = { 'content-type': 'application/json' };
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
      ['/v2/models/pair/infer', 'POST', 'x', { 'inference-header-content-length': '1' }, 501],
      ['/v2/repository/index', 'POST', '[]', json, 400],
      ['/v2/repository/index', 'POST', '{"ready":1}', json, 400],
    ];
    for (const [path, method, body, headers, status] of cases) {
      const answer = await harness.send(path, { method, body, headers: headers as Record<string, string> });
      expect(answer.status, `${method} ${path}: ${answer.text}`).toBe(status);
      error(answer);
    }
    expect(harness.service.evaluations).toEqual([]);
  });

  it('B1: empty tensors leave the next hundred requests as they were', async () => {
    for (const shape of [[0], [0, 2], [1, 0]]) {
      expect((await infer('pair', { inputs: [{ ...good, shape, data: [] }] })).status).toBe(400);
    }
    const empty = { inputs: [tensor('BYTES', [1], [''])] };
    expect((await infer('m-strings', empty)).status).toBe(400);
    for (let k = 0; k < 100; k++) expect((await infer('pair', floats([[k, k]]))).status).toBe(200);
    expect((await get('/v2/models/pair/ready')).status).toBe(200);
  });

  it('A9: outputs that others select are no answer to this one', async () => {
    const scores = new Float32Array(10);
    harness.service.vote = ({ model, version }) => ({
      name: model,
      version,
      cached: false,
      output: '7',
      scores,
    });
    harness.service.holding = true;
    const pixels = Array<number>(784).fill(0);
    const inputs = [{ name: 'pixels', datatype: 'FP32', shape: [1, 784], data: pixels }];
    const url = `http://127.0.0.1:${harness.address.port}/v2/models/digits/infer`;
    const ask = async (names: string[]) => {
      const outputs = names.map((name) => ({ name }));
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ inputs, outputs }) });
      return ((await answer.json()) as { outputs: { name: string }[] }).outputs.map(({ name }) => name);
    };
    const asked = [['label'], ['scores'], ['scores', 'label'], []];
    const answers = asked.map(ask);
    await expect.poll(() => harness.service.evaluations.length).toBe(4);
    harness.service.releaseReversed();
    expect(await Promise.all(answers)).toEqual([
      ['label'],
      ['scores'],
      ['scores', 'label'],
      ['label', 'scores'],
    ]);
  });

  it('A3: requests of 1, 2 and 5 rows at once each get exactly their rows, in order', async () => {
    harness.service.vote = ({ model, version, input }) => ({
      name: model,
      version,
      cached: false,
      output: String(new Float32Array(input.slice().buffer)[0]),
    });
    harness.service.holding = true;
    const url = `http://127.0.0.1:${harness.address.port}/v2/models/pair/infer`;
    const sizes = [1, 2, 5, 2, 1, 5];
    const rowsOf = (size: number, at: number) => Array.from({ length: size }, (_, row) => [at * 10 + row, 0]);
    const answers = sizes.map(async (size, at) => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ id: String(at), ...floats(rowsOf(size, at)) });
      const answer = await fetch(url, { method: 'POST', headers, body });
      return (await answer.json()) as { id: string; outputs: { shape: number[]; data: string[] }[] };
    });
    await expect.poll(() => harness.service.evaluations.length).toBe(16);
    harness.service.releaseReversed();
    for (const [at, { id, outputs }] of (await Promise.all(answers)).entries()) {
      const data = rowsOf(sizes[at], at).map(([value]) => String(value));
      expect([id, outputs[0].shape, outputs[0].data]).toEqual([String(at), [sizes[at]], data]);
    }
  });

  it('answers pipelined requests in order', async () => {
    const body = (value: number) => JSON.stringify({ id: String(value), ...floats([[value, 0]]) });
    const bytes = [1, 2, 3].map(
      (value) =>
        `POST /v2/models/pair/infer HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n` +
        `content-length: ${body(value).length}\r\n${value === 3 ? 'connection: close\r\n' : ''}\r\n${body(value)}`,
    );
    const text = await new Promise<string>((resolve, reject) => {
      let received = '';
      const socket = connect(harness.address.port, '127.0.0.1', () => socket.write(bytes.join('')));
      socket.on('data', (chunk) => (received += chunk.toString()));
      socket.on('end', () => resolve(received));
      socket.on('error', reject);
    });
    expect([...text.matchAll(/"id":"(\d)"/g)].map(([, id]) => id)).toEqual(['1', '2', '3']);
  });

  it('withdraws every row of a client that leaves', async () => {
    harness.service.holding = true;
    const aborting = new AbortController();
    const url = `http://127.0.0.1:${harness.address.port}/v2/models/pair/infer`;
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(
      floats([
        [1, 2],
        [3, 4],
      ]),
    );
    const gone = fetch(url, { method: 'POST', headers, body, signal: aborting.signal }).catch(() => 'gone');
    await expect.poll(() => harness.service.evaluations.length).toBe(2);
    aborting.abort();
    expect(await gone).toBe('gone');
    await expect.poll(() => harness.service.cancelled).toEqual(['model pair', 'model pair']);
  });
});
