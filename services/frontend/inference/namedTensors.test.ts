import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, InferenceHarness } from '../tests/inference/inferenceHarness.js';

let harness: InferenceHarness;
let folder: string;

/** The manifest of a graph that was imported, without what it computes: nothing here runs it. */
function manifest(input: object, outputs: readonly object[], answer: object): string {
  return JSON.stringify({
    manifestVersion: 1,
    name: 'graph',
    gpus: 1,
    maxBatchSize: 8,
    inputs: [{ name: 'input', ...input }],
    weights: [],
    buffers: [],
    outputs,
    modules: [{ name: 'm', file: 'm.ptx' }],
    launches: [{ module: 'm', kernel: 'k', grid: [1, 1, 1], block: [1, 1, 1], arguments: [] }],
    answer,
    limits: { deviceBytes: 1, threadInstructionsPerQuery: 1 },
  });
}

const output = (name: string, element: string, width: number, tensor: object): object => ({
  name,
  element,
  shape: [width],
  tensor,
});

const MANIFESTS: Readonly<
  Record<string, { type: 'floats' | 'integers' | 'doubles'; length: number; text: string }>
> = {
  one: {
    type: 'floats',
    length: 4,
    text: manifest(
      { type: 'floats', shape: [2, 2], tensors: [{ name: 'x.1', datatype: 'FP32', shape: [2, 2] }] },
      [output('dense1', 'f32', 3, { name: 'logits:0', datatype: 'FP32', shape: [3] })],
      { kind: 'argmax', output: 'dense1', labels: ['0', '1', '2'], scores: 'dense1' },
    ),
  },
  bert: {
    type: 'integers',
    length: 5,
    text: manifest(
      {
        type: 'integers',
        shape: [5],
        tensors: [
          { name: 'input_ids', datatype: 'INT64', shape: [3] },
          { name: 'mask', datatype: 'BOOL', shape: [2] },
        ],
      },
      [
        output('a', 'f32', 4, { name: 'hidden', datatype: 'FP32', shape: [2, 2] }),
        output('b', 'i32', 1, { name: 'count', datatype: 'INT64', shape: [] }),
        output('c', 'i32', 2, { name: 'is', datatype: 'BOOL', shape: [2] }),
      ],
      { kind: 'tensors', outputs: ['a', 'b', 'c'] },
    ),
  },
  classifier: {
    type: 'floats',
    length: 2,
    text: manifest(
      { type: 'floats', shape: [2], tensors: [{ name: 'half', datatype: 'FP16', shape: [2] }] },
      [
        output('a', 'i32', 1, { name: 'output_label', datatype: 'BYTES', shape: [] }),
        output('b', 'f32', 2, { name: 'output_probability', datatype: 'FP32', shape: [2] }),
      ],
      { kind: 'label', output: 'a', labels: ['cat', 'dog'], scores: 'b' },
    ),
  },
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'named-'));
  harness = await InferenceHarness.start();
  for (const [name, { type, length, text }] of Object.entries(MANIFESTS)) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'manifest.json'), text);
    const container = { kind: 'kernelModel', path: join(folder, name) } as const;
    await harness.addModel(name, type, { inputLength: length, container });
  }
});
afterAll(async () => {
  await harness.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => harness.reset());

const ids = { name: 'input_ids', datatype: 'INT64', shape: [2, 3], data: [1, 2, 3, 4, 5, 6] };
const mask = { name: 'mask', datatype: 'BOOL', shape: [2, 2], data: [true, false, [0], 1].flat() };

describe('a graph that was imported', () => {
  it('is described by its own names, datatypes and shapes', async () => {
    expect((await harness.get('/v2/models/bert')).json).toMatchObject({
      inputs: [
        { name: 'input_ids', datatype: 'INT64', shape: [-1, 3] },
        { name: 'mask', datatype: 'BOOL', shape: [-1, 2] },
      ],
      outputs: [
        { name: 'hidden', datatype: 'FP32', shape: [-1, 2, 2] },
        { name: 'count', datatype: 'INT64', shape: [-1] },
        { name: 'is', datatype: 'BOOL', shape: [-1, 2] },
      ],
    });
    expect((await harness.get('/v2/models/one')).json).toMatchObject({
      inputs: [{ name: 'x.1', datatype: 'FP32', shape: [-1, 2, 2] }],
      outputs: [
        { name: 'label', datatype: 'INT64', shape: [-1] },
        { name: 'logits:0', datatype: 'FP32', shape: [-1, 3] },
      ],
    });
  });

  it('has a configuration in the form of Triton', async () => {
    for (const path of ['/v2/models/bert/config', '/v2/models/bert/versions/1/config/']) {
      expect((await harness.get(path)).json).toEqual({
        name: 'bert',
        platform: 'windjammer_kernelModel',
        backend: 'windjammer',
        max_batch_size: 4096,
        input: [
          { name: 'input_ids', data_type: 'TYPE_INT64', dims: [3] },
          { name: 'mask', data_type: 'TYPE_BOOL', dims: [2] },
        ],
        output: [
          { name: 'hidden', data_type: 'TYPE_FP32', dims: [2, 2] },
          { name: 'count', data_type: 'TYPE_INT64', dims: [1], reshape: { shape: [] } },
          { name: 'is', data_type: 'TYPE_BOOL', dims: [2] },
        ],
      });
    }
    expect((await harness.get('/v2/models/m-strings/config')).json).toMatchObject({
      input: [{ data_type: 'TYPE_STRING', dims: [1] }],
      output: [{ name: 'label', data_type: 'TYPE_STRING' }],
    });
    expect((await harness.get('/v2/models/none/config')).status).toBe(404);
  });

  it('takes its tensors in any order and puts each row together', async () => {
    const outputs = ['[1,2]', '[3,4]'].map(
      (hidden, row) => `{"hidden":[${hidden.slice(1, -1)},5,6],"count":[${row}],"is":[${row},1]}`,
    );
    let row = 0;
    harness.service.vote = ({ model, version }) => ({
      name: model,
      version,
      cached: false,
      output: outputs[row++],
    });
    const { json, status } = await harness.infer('bert', { inputs: [mask, ids] });
    expect(status).toBe(200);
    const rows = harness.service.evaluations.map(({ input }) =>
      Array.from(new Int32Array(input.slice().buffer)),
    );
    expect(rows).toEqual([
      [1, 2, 3, 1, 0],
      [4, 5, 6, 0, 1],
    ]);
    expect((json as { outputs: unknown }).outputs).toEqual([
      { name: 'hidden', datatype: 'FP32', shape: [2, 2, 2], data: [1, 2, 5, 6, 3, 4, 5, 6] },
      { name: 'count', datatype: 'INT64', shape: [2], data: [0, 1] },
      { name: 'is', datatype: 'BOOL', shape: [2, 2], data: [false, true, true, true] },
    ]);
  });

  it('takes one tensor in the shape of its graph, and half precision', async () => {
    const inputs = [
      {
        name: 'x.1',
        datatype: 'FP32',
        shape: [1, 2, 2],
        data: [
          [
            [1, 2],
            [3, 4],
          ],
        ],
      },
    ];
    harness.service.vote = ({ model, version }) => ({
      name: model,
      version,
      cached: false,
      output: '2',
      scores: Float32Array.of(0, 1, 2),
    });
    expect((await harness.infer('one', { inputs, outputs: [{ name: 'logits:0' }] })).json).toMatchObject({
      outputs: [{ name: 'logits:0', datatype: 'FP32', shape: [1, 3], data: [0, 1, 2] }],
    });
    harness.service.vote = ({ model, version }) => ({
      name: model,
      version,
      cached: false,
      output: 'dog',
      scores: Float32Array.of(0.25, 0.75),
    });
    const half = { name: 'half', datatype: 'FP16', shape: [1, 2], data: [0.5, -2] };
    const { json } = await harness.infer('classifier', { inputs: [half] });
    expect(json).toMatchObject({
      outputs: [
        { name: 'output_label', datatype: 'BYTES', shape: [1], data: ['dog'] },
        { name: 'output_probability', datatype: 'FP32', shape: [1, 2], data: [0.25, 0.75] },
      ],
    });
  });

  it.each<[string, object, string]>([
    ['a tensor that is missing', { inputs: [ids] }, "inputs must have the tensor 'mask'"],
    ['one twice', { inputs: [ids, ids, mask] }, "inputs[1].name: 'input_ids' is given twice"],
    [
      'another name',
      { inputs: [{ ...ids, name: 'x' }, mask] },
      "inputs[0].name: 'bert' has the inputs 'input_ids', 'mask'; ",
    ],
    [
      'other rows',
      { inputs: [ids, { ...mask, shape: [1, 2], data: [1, 0] }] },
      'inputs[1].shape: 1 rows, the first tensor has 2',
    ],
    [
      'another shape',
      { inputs: [{ ...ids, shape: [3, 2] }, mask] },
      'inputs[0].shape must be [n, 3], [3, 2] came',
    ],
    [
      'another datatype',
      { inputs: [{ ...ids, datatype: 'FP32' }, mask] },
      'inputs[0].datatype must be INT64 here, ',
    ],
    [
      'a fraction',
      { inputs: [{ ...ids, data: [1, 2, 3, 4, 5, 0.5] }, mask] },
      'inputs[0].data[5] must be a whole number',
    ],
    [
      'more than 32 bits',
      { inputs: [{ ...ids, data: [1, 2, 3, 4, 5, 2 ** 40] }, mask] },
      'inputs[0].data[5] must be a whole number from -2147483648 to 2147483647',
    ],
    [
      'neither true nor false',
      { inputs: [ids, { ...mask, data: [0, 1, 2, 0] }] },
      'inputs[1].data[2] must be a whole number from 0 to 1',
    ],
    [
      'a text',
      { inputs: [ids, { ...mask, data: [0, 1, 'a', 0] }] },
      'inputs[1].data[2] must be a whole number from 0 to 1',
    ],
  ])('refuses %s, and asks no model', async (_what, body, text) => {
    const answer = await harness.infer('bert', body);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toContain(text);
    expect(harness.service.evaluations).toHaveLength(0);
  });

  it('takes tensors as binary data, one behind the other', async () => {
    const first = Buffer.alloc(24);
    [7n, -8n, 9n].forEach((value, at) => first.writeBigInt64LE(value, 8 * at));
    const second = Buffer.of(1, 0);
    const head = JSON.stringify({
      inputs: [
        { name: 'input_ids', datatype: 'INT64', shape: [1, 3], parameters: { binary_data_size: 24 } },
        { name: 'mask', datatype: 'BOOL', shape: [1, 2], parameters: { binary_data_size: 2 } },
      ],
    });
    harness.service.vote = ({ model, version }) => ({
      name: model,
      version,
      cached: false,
      output: '{"hidden":[1,2,3,4],"count":[1],"is":[0,1]}',
    });
    const response = await fetch(`http://127.0.0.1:${harness.port}/v2/models/bert/infer`, {
      method: 'POST',
      headers: { 'inference-header-content-length': String(head.length) },
      body: Buffer.concat([Buffer.from(head), first, second]),
    });
    expect(response.status).toBe(200);
    const [{ input }] = harness.service.evaluations;
    expect(Array.from(new Int32Array(input.slice().buffer))).toEqual([7, -8, 9, 1, 0]);
  });
});
