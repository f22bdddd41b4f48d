import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HttpAnswer } from '../tests/harness.js';
import {
  errorOf,
  floats,
  InferenceHarness,
  JSON_TYPE,
  pixels,
  tensor,
} from '../tests/inference/inferenceHarness.js';

let harness: InferenceHarness;

beforeAll(async () => {
  harness = await InferenceHarness.start({ maxBodyBytes: 1024 * 1024 });
});
afterAll(() => harness.close());
beforeEach(() => harness.reset());

const bytesOf = (array: ArrayBufferView) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);

/** A tensor whose data follows the JSON. */
function binary(datatype: string, shape: readonly number[], size: number, more: object = {}): object {
  return { name: 'input', datatype, shape, parameters: { binary_data_size: size, ...more } };
}

/** BYTES in binary: each element behind its length. */
function texts(...elements: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(
    elements.flatMap((element) => {
      const content = Buffer.from(element);
      return [bytesOf(Uint32Array.of(content.length)), content];
    }),
  );
}

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly jsonLength?: string;
  readonly encode?: (body: Buffer) => Buffer;
}

/** Sends JSON and data as clients of the protocol do: without a Content-Type. */
function send(
  model: string,
  json: unknown,
  data: Buffer,
  { headers, jsonLength, encode }: Sent = {},
): Promise<HttpAnswer> {
  const head = Buffer.from(JSON.stringify(json));
  const body = Buffer.concat([head, data]);
  return harness.inner.send(`/v2/models/${model}/infer`, {
    body: encode === undefined ? body : encode(body),
    contentType: null,
    headers: { 'inference-header-content-length': jsonLength ?? String(head.length), ...headers },
  });
}

interface BinaryAnswer {
  readonly json: { readonly outputs: readonly { readonly parameters?: { binary_data_size?: number } }[] };
  /** What each output has behind the JSON. */
  readonly data: readonly Buffer[];
}

function parse({ bytes, headers }: HttpAnswer): BinaryAnswer {
  expect(headers['content-type']).toBe('application/octet-stream');
  const length = Number(headers['inference-header-content-length']);
  const json = JSON.parse(bytes.subarray(0, length).toString()) as BinaryAnswer['json'];
  let offset = length;
  const data = json.outputs.map(({ parameters }) => {
    const size = parameters?.binary_data_size ?? 0;
    offset += size;
    return bytes.subarray(offset - size, offset);
  });
  expect(offset).toBe(bytes.length);
  return { json, data };
}

describe('binary tensor data of requests', () => {
  it('is taken in every datatype, whatever byte it begins at', async () => {
    const cases: readonly [string, string, number[], Buffer, readonly Uint8Array[]][] = [
      [
        'm-doubles',
        'FP64',
        [2, 1],
        bytesOf(Float64Array.of(1, 2.5)),
        [bytesOf(Float64Array.of(1)), bytesOf(Float64Array.of(2.5))],
      ],
      ['m-floats', 'FP32', [1, 2], bytesOf(Float32Array.of(1, 2.5)), [bytesOf(Float32Array.of(1, 2.5))]],
      ['m-integers', 'INT32', [1, 2], bytesOf(Int32Array.of(-1, 2)), [bytesOf(Int32Array.of(-1, 2))]],
      ['m-bytes', 'UINT8', [2, 2], Buffer.of(0, 255, 1, 2), [Uint8Array.of(0, 255), Uint8Array.of(1, 2)]],
      [
        'm-bytes',
        'BYTES',
        [2, 1],
        texts(Uint8Array.of(0, 255), 'x'),
        [Uint8Array.of(0, 255), Buffer.from('x')],
      ],
      ['m-strings', 'BYTES', [2], texts('hé', 'text'), [Buffer.from('hé'), Buffer.from('text')]],
    ];
    for (const [model, datatype, shape, data, rows] of cases) {
      for (const id of ['', 'a', 'ab', 'abc', 'abcd', 'abcde', 'abcdef', 'abcdefg']) {
        harness.service.evaluations.length = 0;
        const answer = await send(model, { id, inputs: [binary(datatype, shape, data.length)] }, data);
        expect(answer.status, answer.text).toBe(200);
        const inputs = harness.service.evaluations.map(({ input }) => [...input]);
        expect(inputs, `${model} ${datatype}`).toEqual(rows.map((row) => [...row]));
      }
    }
  });

  it('may be base64 in BYTES, as in JSON', async () => {
    const data = texts('AP8=');
    const input = binary('BYTES', [1], data.length, { content_type: 'base64' });
    expect((await send('m-bytes', { inputs: [input] }, data)).status).toBe(200);
    expect([...harness.service.evaluations[0].input]).toEqual([0, 255]);
  });

  it('may come compressed: the header counts bytes of the decoded body', async () => {
    const data = bytesOf(Float32Array.of(1, 2));
    const inputs = [binary('FP32', [1, 2], 8)];
    const answer = await send('pair', { inputs }, data, {
      headers: { 'content-encoding': 'gzip' },
      encode: gzipSync,
    });
    expect(answer.status, answer.text).toBe(200);
    expect(harness.service.evaluations[0].input).toEqual(new Uint8Array(data));
  });

  it('may be declared as an octet stream, or not at all, also where it is JSON alone', async () => {
    for (const contentType of [null, 'application/octet-stream', 'application/json; charset=utf-8']) {
      const body = JSON.stringify(floats([[1, 2]]));
      const answer = await harness.inner.send('/v2/models/pair/infer', { body, contentType });
      expect(answer.status, answer.text).toBe(200);
    }
  });

  const data = bytesOf(Float32Array.of(1, 2));
  const pair = binary('FP32', [1, 2], 8);
  const CASES: readonly [
    what: string,
    model: string,
    input: object,
    data: Buffer,
    sent: Sent,
    says: string,
  ][] = [
    [
      'a size above what follows',
      'pair',
      binary('FP32', [1, 2], 16),
      data,
      {},
      "inputs[0] ('input'): binary_data_size is 16, and 8 bytes are left",
    ],
    [
      'a size below what follows',
      'pair',
      pair,
      Buffer.concat([data, data]),
      {},
      '8 bytes follow the binary data of the last input',
    ],
    [
      'a size that is not the shape’s',
      'pair',
      binary('FP32', [2, 2], 8),
      data,
      {},
      "inputs[0] ('input'): binary_data_size is 8, the shape has 16 bytes",
    ],
    [
      'a size that is no multiple',
      'm-floats',
      binary('FP32', [1, 2], 7),
      data.subarray(0, 7),
      {},
      'the shape has 8 bytes',
    ],
    [
      'a negative size',
      'pair',
      binary('FP32', [1, 2], -8),
      data,
      {},
      'inputs[0].parameters.binary_data_size must be a whole number',
    ],
    [
      'a size as text',
      'pair',
      { ...pair, parameters: { binary_data_size: '8' } },
      data,
      {},
      'inputs[0].parameters.binary_data_size must be',
    ],
    ['a size of 0', 'pair', binary('FP32', [1, 2], 0), Buffer.alloc(0), {}, 'the shape has 8 bytes'],
    [
      'data beside the size',
      'pair',
      { ...pair, data: [1, 2] },
      data,
      {},
      "inputs[0] ('input') has data and binary_data_size",
    ],
    ['bytes that no tensor has', 'pair', tensor('FP32', [1, 2], [1, 2]), data, {}, '8 bytes follow'],
    [
      'no header',
      'pair',
      pair,
      Buffer.alloc(0),
      { headers: { 'inference-header-content-length': '' } },
      'Inference-Header-Content-Length must be',
    ],
    ['a header of 0', 'pair', pair, data, { jsonLength: '0' }, 'Inference-Header-Content-Length must be'],
    [
      'a header beyond the body',
      'pair',
      pair,
      data,
      { jsonLength: '1000' },
      'Inference-Header-Content-Length must be',
    ],
    [
      'a header of text',
      'pair',
      pair,
      data,
      { jsonLength: '0x10' },
      'Inference-Header-Content-Length must be',
    ],
    ['a header into the JSON', 'pair', pair, data, { jsonLength: '10' }, 'the body is not JSON'],
    ['a header into the data', 'pair', pair, data, { jsonLength: '101' }, 'the body is not'],
    [
      'NaN',
      'pair',
      pair,
      bytesOf(Float32Array.of(1, NaN)),
      {},
      "inputs[0] ('input'): element 1 must be finite",
    ],
    [
      'an infinity',
      'm-doubles',
      binary('FP64', [1, 1], 8),
      bytesOf(Float64Array.of(-Infinity)),
      {},
      "inputs[0] ('input'): element 0 must be finite",
    ],
    [
      'another datatype',
      'pair',
      binary('FP16', [1, 2], 4),
      Buffer.alloc(4),
      {},
      'inputs[0].datatype must be FP32 here',
    ],
    [
      'a text longer than the data',
      'm-strings',
      binary('BYTES', [1], 5),
      Buffer.of(2, 0, 0, 0, 65),
      {},
      "inputs[0] ('input'): element 0 has 2 bytes, 1 are left",
    ],
    [
      'a text of 4 GiB',
      'm-strings',
      binary('BYTES', [1], 4),
      Buffer.of(255, 255, 255, 255),
      {},
      'element 0 has 4294967295 bytes, 0 are left',
    ],
    [
      'a text too few',
      'm-strings',
      binary('BYTES', [2], 5),
      texts('A'),
      {},
      "inputs[0] ('input'): element 1 is missing",
    ],
    [
      'a text too many',
      'm-strings',
      binary('BYTES', [1], 10),
      texts('A', 'B'),
      {},
      "inputs[0] ('input'): 5 bytes follow the last of 1 elements",
    ],
    [
      'an empty text',
      'm-strings',
      binary('BYTES', [1], 4),
      texts(''),
      {},
      "inputs[0] ('input'): element 0 has no element",
    ],
    [
      'text that is no UTF-8',
      'm-strings',
      binary('BYTES', [1], 5),
      texts(Uint8Array.of(0xff)),
      {},
      "inputs[0] ('input'): element 0 is not valid UTF-8",
    ],
    ['zero rows', 'pair', binary('FP32', [0, 2], 0), Buffer.alloc(0), {}, 'inputs[0].shape[0] must be'],
    [
      '2^48 elements',
      'm-floats',
      binary('FP32', [4096, 2 ** 36], 8),
      data,
      {},
      'binary_data_size is 8, the shape has',
    ],
  ];

  it.each(CASES)(
    'with %s are refused by name, and no model is called',
    async (_what, model, input, bytes, sent, says) => {
      const answer = await send(model, { inputs: [input] }, bytes, sent);
      expect(answer.status, answer.text).toBe(400);
      expect(errorOf(answer)).toContain(says);
      expect(harness.service.evaluations).toEqual([]);
    },
  );

  it('needs the header', async () => {
    const body = JSON.stringify({ inputs: [pair] });
    const answer = await harness.inner.send('/v2/models/pair/infer', { body, headers: JSON_TYPE });
    expect([answer.status, errorOf(answer)]).toEqual([
      400,
      "inputs[0] ('input') has binary data, so the request needs the header Inference-Header-Content-Length",
    ]);
  });
});

describe('binary tensor data of answers', () => {
  const scores = Float32Array.of(0.1, NaN, Infinity, -Infinity, 0, 1, 2, 3, 4, 5);
  const withScores = () => {
    harness.service.vote = ({ model, version }) => ({
      name: model,
      version,
      cached: false,
      output: '7',
      scores,
    });
  };

  it('is every output when the request asks for it, bit for bit', async () => {
    withScores();
    const answer = await harness.infer('digits', {
      ...pixels(2),
      id: 'é',
      parameters: { binary_data_output: true },
    });
    const { json, data } = parse(answer);
    expect(json).toEqual({
      model_name: 'digits',
      model_version: '1',
      id: 'é',
      parameters: { binary_data_output: true },
      outputs: [
        { name: 'label', datatype: 'INT64', shape: [2], parameters: { binary_data_size: 16 } },
        { name: 'scores', datatype: 'FP32', shape: [2, 10], parameters: { binary_data_size: 80 } },
      ],
    });
    expect(data).toEqual([
      bytesOf(BigInt64Array.of(7n, 7n)),
      Buffer.concat([bytesOf(scores), bytesOf(scores)]),
    ]);
  });

  it('is what each output asks for, beside JSON, whatever the request says', async () => {
    withScores();
    const outputs = [
      { name: 'scores', parameters: { binary_data: true, mine: 1 } },
      { name: 'label', parameters: { binary_data: false } },
    ];
    const first = parse(await harness.infer('digits', { ...pixels(), outputs }));
    expect(first.json.outputs).toEqual([
      {
        name: 'scores',
        datatype: 'FP32',
        shape: [1, 10],
        parameters: { binary_data: true, mine: 1, binary_data_size: 40 },
      },
      { name: 'label', datatype: 'INT64', shape: [1], parameters: { binary_data: false }, data: [7] },
    ]);
    const parameters = { binary_data_output: true };
    const overridden = parse(await harness.infer('digits', { ...pixels(), parameters, outputs }));
    expect(overridden.data.map(({ length }) => length)).toEqual([40, 0]);
    const none = outputs.map(({ name }) => ({ name, parameters: { binary_data: false } }));
    const plain = await harness.infer('digits', { ...pixels(), parameters, outputs: none });
    expect(plain.headers['content-type']).toBe('application/json');
    expect(plain.headers['inference-header-content-length']).toBeUndefined();
  });

  it('has texts behind their lengths, and numbers in the label’s own type', async () => {
    const parameters = { binary_data_output: true };
    harness.service.vote = ({ model, version }) => ({
      name: model,
      version,
      cached: false,
      output: model === 'decimal' ? '0.5' : 'hé',
    });
    const answer = await harness.infer('pair', {
      parameters,
      ...floats([
        [1, 2],
        [3, 4],
      ]),
    });
    expect(parse(answer).data).toEqual([texts('hé', 'hé')]);
    const decimal = await harness.infer('decimal', { parameters, ...floats([[1]]) });
    expect(parse(decimal).data).toEqual([bytesOf(Float64Array.of(0.5))]);
    const application = await harness.infer('floats', { parameters, ...floats([[1]]) });
    expect(parse(application).data).toEqual([texts('7'), bytesOf(Float32Array.of(1))]);
  });

  it('is as long as the shape says when a client takes both in one request', async () => {
    withScores();
    const data = Buffer.alloc(3 * 784 * 4);
    const input = {
      name: 'pixels',
      datatype: 'FP32',
      shape: [3, 784],
      parameters: { binary_data_size: data.length },
    };
    const { data: answered } = parse(
      await send('digits', { inputs: [input], parameters: { binary_data_output: true } }, data),
    );
    expect(answered.map(({ length }) => length)).toEqual([24, 120]);
  });

  it('is compressed for clients that take it; the header counts bytes before that', async () => {
    withScores();
    const outputs = [{ name: 'scores', parameters: { binary_data: true } }];
    const headers = { 'accept-encoding': 'gzip' };
    const answer = await harness.infer('digits', { ...pixels(500), outputs }, headers);
    expect(answer.headers['content-encoding']).toBe('gzip');
    const { data } = parse({ ...answer, bytes: gunzipSync(answer.bytes) });
    expect(data[0]).toEqual(Buffer.concat(Array.from({ length: 500 }, () => bytesOf(scores))));
  });

  it('leaves errors as JSON', async () => {
    harness.service.vote = ({ model, version }) => ({
      name: model,
      version,
      cached: false,
      missing: 'deadline',
    });
    const answer = await harness.infer('digits', { ...pixels(), parameters: { binary_data_output: true } });
    expect(answer.status).toBe(504);
    errorOf(answer);
  });
});
