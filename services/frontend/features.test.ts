import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeAnswer, encodeFeedback, encodePredict, FrameType } from '../wire/index.js';
import { FrontendHarness } from './tests/harness.js';
import { TestSocket } from './tests/webSocketHarness.js';

const FEATURES = { hour: 14, 'user.age': 33.5, constructor: -0.25 };
const INPUT = new Uint8Array(new Float64Array([1]).buffer);

let harness: FrontendHarness;
beforeEach(async () => {
  harness = await FrontendHarness.start();
});
afterEach(() => harness.close());

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, at]));

/** What the engine was asked with, in order. */
const asked = () => harness.service.queries.map(({ features }) => features);

describe('features of queries', () => {
  it('reach the engine by every way that a query comes', async () => {
    await harness.predict('doubles', { input: [1], features: FEATURES });
    await harness.predict('doubles', { input: [1], features: many(64) });
    await harness.predict('doubles', { input: [1] });
    const url = `/doubles/predict?features=${encodeURIComponent(JSON.stringify(FEATURES))}`;
    await harness.send(url, { body: Buffer.from(INPUT), contentType: 'application/octet-stream' });
    const socket = await TestSocket.open(harness);
    socket.send({ type: 'predict', id: 1, application: 'doubles', input: [1], features: FEATURES });
    await socket.nextJson();
    socket.send(
      encodePredict({
        id: 2,
        application: 'doubles',
        inputType: 'doubles',
        input: INPUT,
        context: 'anna',
        features: FEATURES,
      }),
    );
    expect(decodeAnswer((await socket.next()).data)).toMatchObject({ kind: 'prediction' });
    socket.close();
    const tensor = { name: 'input', datatype: 'FP64', shape: [2, 1], data: [1, 2] };
    const parameters = Object.fromEntries(
      Object.entries({ ...FEATURES, ...many(61) }).map(([name, value]) => [`features.${name}`, value]),
    );
    const infer = { inputs: [tensor], parameters: { ...parameters, timeout: 1000 } };
    const { status, json } = await harness.send('/v2/models/doubles/infer', { body: JSON.stringify(infer) });
    expect(status).toBe(200);
    expect((json as { parameters: object }).parameters).toEqual(infer.parameters);
    const two = { ...FEATURES, ...many(61) };
    expect(asked()).toEqual([FEATURES, many(64), undefined, FEATURES, FEATURES, FEATURES, two, two]);
    expect(harness.service.queries[5]).toMatchObject({ context: 'anna', input: INPUT });
  });

  it('of a batch are the same for all, or one object for each input', async () => {
    await harness.predict('doubles', { input_batch: [[1], [2]], features: { a: 1 } });
    await harness.predict('doubles', { input_batch: [[1], [2], [3]], features: [{ a: 2 }, null, { b: 3 }] });
    expect(asked()).toEqual([{ a: 1 }, { a: 1 }, { a: 2 }, undefined, { b: 3 }]);
    const short = await harness.predict('doubles', { input_batch: [[1], [2]], features: [{ a: 1 }] });
    expect(short.json).toMatchObject({
      error: {
        code: 'invalid_value',
        field: 'features',
        message: expect.stringContaining('2 inputs') as string,
      },
    });
    const wrong = await harness.predict('doubles', { input_batch: [[1]], features: [{ a: 'x' }] });
    expect(wrong.json).toMatchObject({ error: { code: 'wrong_type', field: 'features[0].a' } });
  });

  it('come with feedback on an input, and not with a query, which has its own', async () => {
    const update = (body: object) => harness.send('/doubles/update', { body: JSON.stringify(body) });
    expect((await update({ input: [1], label: 1, features: FEATURES })).status).toBe(200);
    const socket = await TestSocket.open(harness);
    socket.send({
      type: 'feedback',
      id: 1,
      application: 'doubles',
      input: [1],
      label: 'a',
      features: FEATURES,
    });
    await socket.nextJson();
    const frame = { id: 2, application: 'doubles', inputType: 'doubles', input: INPUT } as const;
    const more = { label: 'seven', loss: 0.5, idempotencyKey: 'key', context: 'anna', features: FEATURES };
    socket.send(encodeFeedback({ ...frame, ...more }));
    expect(decodeAnswer((await socket.next()).data)).toMatchObject({ kind: 'feedback' });
    socket.close();
    expect(harness.service.feedback.map(({ features }) => features)).toEqual([FEATURES, FEATURES, FEATURES]);
    expect(harness.service.feedback[2]).toMatchObject(more);
    const refused = await update({ query_id: 'q', label: 1, features: FEATURES });
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({ error: { code: 'conflicting_fields', field: 'features' } });
  });
});

describe('feedback without a label', () => {
  it('has a loss, a reward or losses, by every way', async () => {
    const update = (body: object) => harness.send('/doubles/update', { body: JSON.stringify(body) });
    await update({ query_id: 'q', loss: 0.25 });
    await update({ query_id: 'q', reward: 0.75 });
    await update({ query_id: 'q', losses: { small: 0.25, large: 0 } });
    const socket = await TestSocket.open(harness);
    socket.send({ type: 'feedback', id: 1, application: 'doubles', query_id: 'q', losses: { small: 1 } });
    await socket.nextJson();
    socket.send(encodeFeedback({ id: 2, application: 'doubles', queryId: 'q', loss: 0.25 }));
    await socket.next();
    socket.send(encodeFeedback({ id: 3, application: 'doubles', queryId: 'q' }));
    expect(decodeAnswer((await socket.next()).data)).toMatchObject({ kind: 'error', field: 'label' });
    socket.close();
    expect(harness.service.feedback.map(({ label, loss, losses }) => [label, loss, losses])).toEqual([
      [undefined, 0.25, undefined],
      [undefined, 0.25, undefined],
      [undefined, undefined, { small: 0.25, large: 0 }],
      [undefined, undefined, { small: 1 }],
      [undefined, 0.25, undefined],
    ]);
  });
});

describe('features that are none', () => {
  it.each<[what: string, features: unknown, code: string, field: string, fix: RegExp]>([
    ['a list', [1, 2], 'wrong_type', 'features', /object of numbers, such as/],
    ['a text', 'hour=1', 'wrong_type', 'features', /object of numbers/],
    ['null', null, 'wrong_type', 'features', /object of numbers/],
    ['a text among numbers', { hour: '14' }, 'wrong_type', 'features.hour', /must be a number, the string/],
    ['null among numbers', { hour: null }, 'wrong_type', 'features.hour', /must be a number, null/],
    ['too many', many(65), 'invalid_value', 'features', /at most 64 numbers, 65 came/],
    ['a name without characters', { '': 1 }, 'invalid_value', 'features', /1 to 64 of/],
    ['a long name', { ['x'.repeat(65)]: 1 }, 'invalid_value', 'features', /"x{61}\.\.\." must have/],
    ['a name of spaces', { 'a b': 1 }, 'invalid_value', 'features', /begin with a letter/],
  ])('%s', async (_what, features, code, field, fix) => {
    const { status, json } = await harness.predict('doubles', { input: [1], features });
    expect(status).toBe(400);
    expect(json).toEqual({ error: { code, field, message: expect.stringMatching(fix) as string } });
    const socket = await TestSocket.open(harness);
    socket.send({ type: 'predict', id: 1, application: 'doubles', input: [1], features });
    expect(await socket.nextJson()).toMatchObject({
      type: 'error',
      id: 1,
      status: 400,
      error: { code, field },
    });
    socket.close();
    expect(harness.service.queries).toHaveLength(0);
  });

  it('numbers that no double holds, and names that reach a prototype', async () => {
    const raw = (features: string) =>
      harness.send('/doubles/predict', { body: `{"input":[1],"features":${features}}` });
    expect((await raw('{"hour":1e400}')).json).toMatchObject({
      error: { code: 'number_out_of_range', field: 'features.hour' },
    });
    expect((await raw('{"__proto__":1}')).json).toMatchObject({ error: { code: 'invalid_value' } });
  });

  it('in binary frames: NaN, a block that is cut off, a name twice, both fields at once', async () => {
    const frame = { id: 3, application: 'doubles', inputType: 'doubles', input: INPUT } as const;
    const good = encodePredict({ ...frame, features: { a: 1, b: 2 } });
    const nan = encodePredict({ ...frame, features: { a: NaN } });
    const namesAt = 24 + 'doubles'.length;
    const cut = Buffer.from(good);
    cut[namesAt] = 200;
    const twice = Buffer.from(good);
    twice[namesAt + 11] = 'a'.charCodeAt(0);
    const short = Buffer.from(good);
    short.writeUInt16LE(5, 18);
    const socket = await TestSocket.open(harness);
    for (const [bytes, code, field] of [
      [nan, 'number_out_of_range', 'features.a'],
      [cut, 'malformed_frame', 'features'],
      [twice, 'conflicting_fields', 'features'],
      [short, 'malformed_frame', undefined],
    ] as const) {
      socket.send(bytes);
      const answer = decodeAnswer((await socket.next()).data);
      expect(answer).toMatchObject({ kind: 'error', id: 3, code });
      if (field !== undefined) expect(answer).toMatchObject({ field });
    }
    socket.send(good);
    expect((await socket.next()).data[2]).toBe(FrameType.prediction);
    socket.close();
    expect(asked()).toEqual([{ a: 1, b: 2 }]);
  });

  it('among the parameters of the Open Inference Protocol', async () => {
    const infer = (parameters: object) => {
      const inputs = [{ name: 'input', datatype: 'FP64', shape: [1, 1], data: [1] }];
      return harness.send('/v2/models/doubles/infer', { body: JSON.stringify({ inputs, parameters }) });
    };
    for (const [parameters, says] of [
      [{ 'features.hour': '14' }, 'parameters.features.hour must be a number, the string "14" came'],
      [{ 'features.': 1 }, 'parameters.features: the name "" must have'],
      [
        Object.fromEntries(Object.keys(many(65)).map((name) => [`features.${name}`, 1])),
        'parameters.features may have at most 64 numbers, 65 came',
      ],
    ] as const) {
      const { status, json } = await infer(parameters);
      expect(status).toBe(400);
      expect(json).toEqual({ error: expect.stringContaining(says) as string });
    }
    expect(harness.service.queries).toHaveLength(0);
  });
});
