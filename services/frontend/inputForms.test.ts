import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InputRange, InputType } from '../../containers/protocol/index.js';
import { decodeAnswer, encodePredict } from '../wire/index.js';
import { FrontendHarness, addApplication } from './tests/harness.js';
import { TestSocket } from './tests/webSocketHarness.js';

const OCTETS = { contentType: 'application/octet-stream' } as const;

function bytesOf(view: ArrayBufferView): Buffer {
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength);
}

/** The same input as JSON and as bytes. */
const SAME: readonly (readonly [InputType, unknown, Buffer])[] = [
  ['doubles', [1, -2.5, 1e300, 3], bytesOf(new Float64Array([1, -2.5, 1e300, 3]))],
  ['floats', [0.5, -3, 3.4028234663852886e38], bytesOf(new Float32Array([0.5, -3, 3.4028234663852886e38]))],
  ['integers', [1, -2147483648, 2147483647], bytesOf(new Int32Array([1, -2147483648, 2147483647]))],
  ['bytes', 'AP+A', Buffer.from([0, 255, 128])],
  ['strings', 'héllo ☃', Buffer.from('héllo ☃')],
];

const nan = bytesOf(new Float64Array([1, NaN]));
const infinite = bytesOf(new Float32Array([1, 2, -Infinity]));

/** Bytes that are no input, with the error and the place that it names. */
const BAD: readonly (readonly [what: string, InputType, Buffer, code: string, place: string])[] = [
  ['no byte', 'doubles', Buffer.alloc(0), 'empty_input', ''],
  ['half a double', 'doubles', Buffer.alloc(12), 'wrong_length', ''],
  ['a float too little for doubles', 'doubles', Buffer.alloc(7), 'wrong_length', ''],
  ['three bytes of integers', 'integers', Buffer.alloc(3), 'wrong_length', ''],
  ['NaN', 'doubles', nan, 'number_out_of_range', '[1]'],
  ['an infinity', 'floats', infinite, 'number_out_of_range', '[2]'],
  ['no UTF-8', 'strings', Buffer.from([0xc3, 0x28]), 'not_utf8', ''],
];

describe('inputs as bytes', () => {
  let harness: FrontendHarness;
  beforeEach(async () => {
    harness = await FrontendHarness.start({ maxBodyBytes: 1000 });
  });
  afterEach(() => harness.close());

  it.each(SAME)('of type %s reach the model as those in JSON do', async (type, json, bytes) => {
    const b64 = bytes.toString('base64');
    expect((await harness.predict(type, { input: json })).status).toBe(200);
    const octets = await harness.send(`/${type}/predict`, { ...OCTETS, body: bytes });
    expect(octets.status).toBe(200);
    expect(octets.json).toMatchObject({ output: 7, default: false });
    expect((await harness.predict(type, { input: { b64 } })).status).toBe(200);
    expect((await harness.predict(type, { input_batch: [{ b64 }, json] })).status).toBe(200);
    const socket = await TestSocket.open(harness);
    socket.send({ type: 'predict', id: 1, application: type, input: { b64 } });
    expect(await socket.nextJson()).toMatchObject({ type: 'prediction' });
    socket.close();
    await harness.send(`/${type}/update`, { body: JSON.stringify({ input: { b64 }, label: 1 }) });
    const inputs = [...harness.service.queries, ...harness.service.feedback].map(({ input }) => input);
    expect(inputs).toHaveLength(7);
    for (const input of inputs) expect(input).toEqual(new Uint8Array(bytes));
    // No part of what the socket read: that would live as long as the input does.
    for (const input of inputs) expect(input?.buffer.byteLength).toBe(bytes.length);
  });

  it.each(BAD)('%s for %s is an error that names its place', async (_what, type, bytes, code, place) => {
    const octets = await harness.send(`/${type}/predict`, { ...OCTETS, body: bytes });
    expect(octets.status).toBe(400);
    expect(octets.json).toMatchObject({ error: { code, field: `input${place}` } });
    const b64 = bytes.toString('base64');
    const single = await harness.predict(type, { input: { b64 } });
    expect(single.json).toMatchObject({ error: { code, field: `input.b64${place}` } });
    const good = SAME.find(([one]) => one === type)?.[1];
    const batch = await harness.predict(type, { input_batch: [good, { b64 }, good] });
    expect(batch.json).toMatchObject({
      batch_predictions: [
        { default: false },
        { error: { code, field: `input_batch[1].b64${place}` } },
        { default: false },
      ],
    });
    expect(harness.service.queries).toHaveLength(2);
  });

  it.each([
    [{ b64: 'AAA' }, 'invalid_base64', 'input.b64'],
    [{ b64: 'AAAAAAAA8D8' }, 'invalid_base64', 'input.b64'],
    [{ b64: 'AAAAAAAA_D8=' }, 'invalid_base64', 'input.b64'],
    [{ b64: ' AAAAAAAA8D8=' }, 'invalid_base64', 'input.b64'],
    [{ b64: 7 }, 'wrong_type', 'input.b64'],
    [{ b64: null }, 'wrong_type', 'input.b64'],
    [{ B64: 'AAAAAAAA8D8=' }, 'wrong_type', 'input'],
    [{}, 'wrong_type', 'input'],
  ])('%j is refused', async (input, code, field) => {
    const { status, json } = await harness.predict('doubles', { input });
    expect([status, json]).toMatchObject([400, { error: { code, field } }]);
  });

  it('take every option of a query from the URL and the headers', async () => {
    const body = SAME[0][2];
    const url =
      '/doubles/predict/?version=3&context=anna&latency_slo_micros=5000&strict=true&priority=2&launch_class=bestEffort&votes=true&unknown=1';
    harness.service.reply = () => ({ isDefault: true, defaultReason: 'deadline' });
    const strict = await harness.send(url, { ...OCTETS, body });
    expect(strict.status).toBe(504);
    expect(harness.service.queries[0]).toMatchObject({
      version: '3',
      context: 'anna',
      budgetNs: 5_000_000,
      priority: 2,
      launchClass: 'bestEffort',
    });
    expect(harness.service.polls).toHaveLength(1);
    const headers = { 'x-windjammer-priority': '4', 'x-windjammer-strict': 'true', 'grpc-timeout': '1m' };
    const lenient = await harness.send('/doubles/predict?strict=false&uid=7', { ...OCTETS, body, headers });
    expect(lenient.status).toBe(200);
    expect(harness.service.queries[1]).toMatchObject({ context: '7', priority: 4 });
    expect(harness.service.queries[1].budgetNs).toBeLessThanOrEqual(1_000_000);
  });

  it.each([
    ['strict=yes', 'wrong_type', 'strict'],
    ['priority=0', 'invalid_value', 'priority'],
    ['launch_class=high', 'invalid_value', 'launch_class'],
    ['priority=high', 'wrong_type', 'priority'],
    ['latency_slo_micros=0', 'invalid_value', 'latency_slo_micros'],
    ['latency_slo_micros=1e3', 'wrong_type', 'latency_slo_micros'],
    ['uid=a&context=b', 'conflicting_fields', 'context'],
    ['version=', 'invalid_value', 'version'],
    [`uid=${'x'.repeat(129)}`, 'invalid_value', 'uid'],
  ])('refuse ?%s by name', async (query, code, field) => {
    const { status, json } = await harness.send(`/doubles/predict?${query}`, { ...OCTETS, body: SAME[0][2] });
    expect([status, json]).toMatchObject([400, { error: { code, field } }]);
    expect(harness.service.queries).toEqual([]);
  });

  it('obey the limit of a body to the byte, and content codings', async () => {
    const send = (bytes: number) => harness.send('/bytes/predict', { ...OCTETS, body: Buffer.alloc(bytes) });
    expect((await send(1000)).status).toBe(200);
    const { status, json } = await send(1001);
    expect([status, json]).toMatchObject([413, { error: { code: 'body_too_large' } }]);
    const { gzipSync } = await import('node:zlib');
    const headers = { 'content-encoding': 'gzip' };
    await harness.send('/bytes/predict', { ...OCTETS, headers, body: gzipSync(Buffer.from([1, 2, 3])) });
    expect(harness.service.queries.at(-1)?.input).toEqual(new Uint8Array([1, 2, 3]));
  });

  it('must have the number of elements that the linked models take', async () => {
    await addApplication(harness.registry, 'two', 'doubles');
    await harness.registry.addModel({
      name: 'two',
      version: '1',
      inputType: 'doubles',
      inputLength: 2,
      labels: [],
      container: { kind: 'constant', output: '0' },
      batching: { strategy: 'aimd' },
    });
    await harness.registry.addLinks('two', ['two']);
    const send = (elements: number) =>
      harness.send('/two/predict', { ...OCTETS, body: bytesOf(new Float64Array(elements)) });
    expect((await send(2)).status).toBe(200);
    expect((await send(3)).json).toMatchObject({ error: { code: 'wrong_length', field: 'input' } });
    const b64 = Buffer.alloc(8).toString('base64');
    const { json } = await harness.predict('two', { input: { b64 } });
    expect(json).toMatchObject({ error: { code: 'wrong_length', field: 'input.b64' } });
  });

  it('must be in the range that the linked models take, on every route', async () => {
    await addApplication(harness.registry, 'dim', 'floats');
    await harness.registry.addModel({
      name: 'dim',
      version: '1',
      inputType: 'floats',
      inputLength: 2,
      inputRange: { minimum: 0, maximum: 1 },
      labels: [],
      container: { kind: 'constant', output: '0' },
      batching: { strategy: 'aimd' },
    });
    await harness.registry.addLinks('dim', ['dim']);
    const refusal = (field: string) => ({ error: { code: 'number_out_of_range', field } });
    expect((await harness.predict('dim', { input: [0.5, 1] })).status).toBe(200);
    const json = await harness.predict('dim', { input: [0.5, 2] });
    expect([json.status, json.json]).toMatchObject([400, refusal('input[1]')]);
    const body = bytesOf(Float32Array.of(0.5, 2));
    expect((await harness.send('/dim/predict', { ...OCTETS, body })).json).toMatchObject(refusal('input[1]'));
    const tensor = { name: 'input', datatype: 'FP32', shape: [1, 2], data: [0.5, 2] };
    const inference = { method: 'POST', body: JSON.stringify({ inputs: [tensor] }) } as const;
    const { status, json: answer } = await harness.send('/v2/models/dim/infer', inference);
    expect([status, JSON.stringify(answer)]).toEqual([400, expect.stringContaining('from 0 to 1')]);
    const feedback = await harness.send('/dim/update', { body: JSON.stringify({ input: [2, 0], label: 1 }) });
    expect([feedback.status, feedback.json]).toMatchObject([400, refusal('input[0]')]);
    const socket = await TestSocket.open(harness);
    const asked = { type: 'predict', id: 1, application: 'dim' };
    const told = async (message: object | Buffer) => {
      socket.send(message);
      return socket.nextJson();
    };
    expect(await told({ ...asked, input: [0.5, 2] })).toMatchObject(refusal('input[1]'));
    expect(await told({ ...asked, input: [0.5, 1, 0] })).toMatchObject({
      error: { code: 'wrong_length', field: 'input' },
    });
    const binary = (...values: number[]) => {
      const input = new Uint8Array(Float32Array.from(values).buffer);
      return encodePredict({ id: 2, application: 'dim', inputType: 'floats', input });
    };
    for (const [input, code] of [
      [binary(0.5, 2), 'number_out_of_range'],
      [binary(NaN, 0), 'number_out_of_range'],
      [binary(0.5, 1, 0), 'wrong_length'],
    ] as const) {
      socket.send(input);
      expect(decodeAnswer((await socket.next()).data)).toMatchObject({ kind: 'error', status: 400, code });
    }
    socket.close();
    expect(harness.service.queries).toHaveLength(1);
  });

  it('may miss values where every linked model takes that, on every route', async () => {
    await addApplication(harness.registry, 'holes', 'doubles');
    const model = (name: string, inputRange?: InputRange) =>
      harness.registry.addModel({
        name,
        version: '1',
        inputType: 'doubles',
        inputLength: 2,
        ...(inputRange === undefined ? {} : { inputRange }),
        labels: [],
        container: { kind: 'constant', output: '0' },
        batching: { strategy: 'aimd' },
      });
    await model('gaps', { missing: true, minimum: 1, maximum: 5 });
    await model('whole');
    await harness.registry.addLinks('holes', ['gaps']);
    const tensor = (data: readonly (number | null)[]) => ({
      name: 'input',
      datatype: 'FP64',
      shape: [1, 2],
      data,
    });
    const infer = (data: readonly (number | null)[]) =>
      harness.send('/v2/models/holes/infer', {
        method: 'POST',
        body: JSON.stringify({ inputs: [tensor(data)] }),
      });
    const octets = (...values: number[]) =>
      harness.send('/holes/predict', { ...OCTETS, body: bytesOf(Float64Array.from(values)) });
    expect((await harness.predict('holes', { input: [null, 1] })).status).toBe(200);
    expect((await octets(NaN, 1)).status).toBe(200);
    expect((await infer([null, 1])).status).toBe(200);
    const refusal = {
      error: {
        code: 'number_out_of_range',
        field: 'input[1]',
        message: expect.stringContaining('from 1 to 5, or missing (NaN)') as string,
      },
    };
    expect((await harness.predict('holes', { input: [null, 6] })).json).toMatchObject(refusal);
    expect((await octets(NaN, Infinity)).json).toMatchObject(refusal);
    expect((await harness.predict('holes', { input: ['x', 1] })).json).toMatchObject({
      error: { code: 'wrong_type' },
    });
    const socket = await TestSocket.open(harness);
    const asked = { type: 'predict', id: 1, application: 'holes' };
    const frame = (...values: number[]) => {
      const input = new Uint8Array(Float64Array.from(values).buffer);
      return encodePredict({ id: 2, application: 'holes', inputType: 'doubles', input });
    };
    const told = async (message: object | Buffer) => {
      socket.send(message);
      return socket.next();
    };
    const saidOf = async (message: object) =>
      JSON.parse((await told(message)).data.toString()) as Record<string, unknown>;
    expect(await saidOf({ ...asked, input: [null, 1] })).toMatchObject({ type: 'prediction' });
    expect(await saidOf({ ...asked, input: [null, 6] })).toMatchObject(refusal);
    expect(decodeAnswer((await told(frame(NaN, 1))).data).kind).toBe('prediction');
    expect(decodeAnswer((await told(frame(NaN, Infinity))).data)).toMatchObject({ status: 400 });
    expect(
      Number.isNaN(new Float64Array(harness.service.queries.at(-2)?.input.slice().buffer ?? [])[0]),
    ).toBe(true);
    await harness.registry.addLinks('holes', ['whole']);
    expect(await saidOf({ ...asked, input: [null, 1] })).toMatchObject({ error: { code: 'wrong_type' } });
    expect(decodeAnswer((await told(frame(NaN, 1))).data)).toMatchObject({ code: 'number_out_of_range' });
    socket.close();
    expect((await harness.predict('holes', { input: [null, 1] })).json).toMatchObject({
      error: { code: 'wrong_type' },
    });
    expect((await octets(NaN, 1)).json).toMatchObject({
      error: { code: 'number_out_of_range', field: 'input[0]' },
    });
    expect((await infer([null, 1])).status).toBe(400);
  });

  it('are for predictions: feedback needs fields', async () => {
    const { status, json } = await harness.send('/doubles/update', { ...OCTETS, body: SAME[0][2] });
    expect([status, json]).toMatchObject([415, { error: { code: 'unsupported_media_type' } }]);
  });

  it.each([
    ['context=a&context=b', 'conflicting_fields', 'context'],
    ['strict=true&strict=true', 'conflicting_fields', 'strict'],
    ['uid=%ff', 'malformed_url', undefined],
    ['uid=%', 'malformed_url', undefined],
  ])('refuse the query %s of a URL', async (query, code, field) => {
    const sent = await harness.send(`/bytes/predict?${query}`, { ...OCTETS, body: Buffer.from('x') });
    expect(sent.status).toBe(400);
    expect(sent.json).toMatchObject({ error: field === undefined ? { code } : { code, field } });
  });

  it('take parameters and capitals in the content type', async () => {
    const contentType = 'Application/Octet-Stream; charset=binary';
    expect((await harness.send('/bytes/predict', { contentType, body: Buffer.from('x') })).status).toBe(200);
    const wrong = await harness.send('/bytes/predict', {
      contentType: 'application/octet-streams',
      body: 'x',
    });
    expect(wrong.status).toBe(415);
  });
});
