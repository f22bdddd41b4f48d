import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, floats, InferenceHarness, tensor } from '../tests/inference/inferenceHarness.js';

let harness: InferenceHarness;

beforeAll(async () => {
  harness = await InferenceHarness.start();
});
afterAll(() => harness.close());
beforeEach(() => harness.reset());

describe('inference', () => {
  it('asks the model one query a row and joins the answers', async () => {
    harness.service.vote = ({ model, version, input }) => ({
      name: model,
      version,
      cached: false,
      output: String(new Float32Array(input.slice().buffer)[1]),
    });
    const answer = await harness.infer('pair', {
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
    const first = await harness.post('/v2/models/pair/versions/1/infer', floats([[1, 2]]));
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
      const answer = await harness.infer(model, { inputs: [input] });
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
    const whole = await harness.infer('whole', floats([[1]]));
    expect(whole.json).toMatchObject({ outputs: [{ datatype: 'INT64', data: [3] }] });
    const decimal = await harness.infer('decimal', floats([[1]]));
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
    const data = Array<number>(784).fill(0);
    // 28 by 28 is 784 elements a row.
    const inputs = [{ name: 'pixels', datatype: 'FP32', shape: [1, 28, 28], data }];
    const answer = await harness.infer('digits', { inputs });
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
    const answer = await harness.infer('pair', { parameters, outputs, ...floats([[1, 2]]) }, { traceparent });
    expect(answer.json).toMatchObject({ parameters, outputs });
    expect(harness.service.evaluations[0]).toMatchObject({ budgetNs: 5_000_000, traceparent });
    await harness.infer('pair', { parameters: { timeout: 0 }, ...floats([[1, 2]]) });
    expect(harness.service.evaluations[1].budgetNs).toBe(30e9);
  });

  it('asks an application when no model has the name, or with application: before it', async () => {
    const answer = await harness.infer('floats', floats([[1], [2]]));
    expect(answer.json).toEqual({
      model_name: 'floats',
      outputs: [
        { name: 'label', datatype: 'BYTES', shape: [2], data: ['7', '7'] },
        { name: 'confidence', datatype: 'FP32', shape: [2], data: [1, 1] },
      ],
    });
    const inputs = [tensor('FP64', [1, 1], [1])];
    expect((await harness.infer('doubles', { inputs })).json).toMatchObject({ model_version: '1' });
    expect(harness.service.queries).toHaveLength(2);
    await harness.infer('application:doubles', { inputs, parameters: { timeout: 1000 } });
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
      const answer = await harness.infer(
        'pair',
        floats([
          [1, 1],
          [2, 2],
          [1, 1],
        ]),
      );
      expect([answer.status, errorOf(answer).startsWith('row 1: ')]).toEqual([status, true]);
    }
    harness.service.reply = () => ({ isDefault: true, defaultReason: 'deadline' });
    expect((await harness.infer('floats', floats([[1]]))).status).toBe(504);
  });
});
