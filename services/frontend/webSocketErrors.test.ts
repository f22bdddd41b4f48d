import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ERROR_CATALOGUE, type ErrorCode } from '../errors/index.js';
import { decodeAnswer, encodeFeedback, encodePredict } from '../wire/index.js';
import { FrontendHarness } from './tests/harness.js';
import { TestSocket } from './tests/webSocketHarness.js';

const LIMIT = 4096;
const doubles = (...values: number[]) => new Uint8Array(Float64Array.from(values).buffer);
const floats = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);
const GOOD = { id: 9, application: 'doubles', inputType: 'doubles', input: doubles(1) } as const;

/** A good frame with one byte changed. */
function patched(at: number, value: number, frame = encodePredict(GOOD)): Buffer {
  frame[at] = value;
  return frame;
}

const predict = { type: 'predict', id: 9, application: 'doubles', input: [1] };
const feedback = { type: 'feedback', id: 9, application: 'doubles', input: [1], label: 1 };

interface BadMessage {
  readonly what: string;
  readonly message: string | object | Buffer;
  readonly code: ErrorCode;
  readonly field?: string;
}

function bad(what: string, message: string | object | Buffer, code: ErrorCode, field?: string): BadMessage {
  return { what, message, code, ...(field === undefined ? {} : { field }) };
}

const BAD_JSON: readonly BadMessage[] = [
  bad('no type', { ...predict, type: undefined }, 'invalid_value', 'type'),
  bad('an unknown type', { ...predict, type: 'fly' }, 'invalid_value', 'type'),
  bad('a type that is no string', { ...predict, type: 1 }, 'invalid_value', 'type'),
  bad('no application', { ...predict, application: undefined }, 'missing_field', 'application'),
  bad('an application that is no string', { ...predict, application: 3 }, 'wrong_type', 'application'),
  bad('an unknown application', { ...predict, application: 'nobody' }, 'unknown_application', 'application'),
  bad(
    'a prototype as application',
    { ...predict, application: '__proto__' },
    'unknown_application',
    'application',
  ),
  bad('no input', { ...predict, input: undefined }, 'missing_field', 'input'),
  bad('an empty input', { ...predict, input: [] }, 'empty_input', 'input'),
  bad('a text for numbers', { ...predict, input: 'x' }, 'wrong_type', 'input'),
  bad('a null in the input', { ...predict, input: [1, null] }, 'wrong_type', 'input[1]'),
  bad('a batch', { ...predict, input: undefined, input_batch: [[1]] }, 'unknown_field', 'input_batch'),
  bad('votes', { ...predict, votes: true }, 'unknown_field', 'votes'),
  bad('a long version', { ...predict, version: 'v'.repeat(65) }, 'invalid_value', 'version'),
  bad('a long context', { ...predict, context: 'c'.repeat(129) }, 'invalid_value', 'context'),
  bad('uid and context', { ...predict, uid: 'a', context: 'b' }, 'conflicting_fields', 'context'),
  bad('an objective of 0', { ...predict, latency_slo_micros: 0 }, 'invalid_value', 'latency_slo_micros'),
  bad('strict as a text', { ...predict, strict: 'yes' }, 'wrong_type', 'strict'),
  bad('a message too large', { ...predict, input: Array(LIMIT / 2).fill(1) }, 'body_too_large'),
  bad('feedback without a label', { ...feedback, label: undefined }, 'missing_field', 'label'),
  bad('feedback on nothing', { ...feedback, input: undefined }, 'missing_field', 'query_id'),
  bad('feedback on input and query', { ...feedback, query_id: 'q' }, 'conflicting_fields', 'query_id'),
  bad('feedback with a loss of 2', { ...feedback, loss: 2 }, 'invalid_value', 'loss'),
  bad('feedback for nobody', { ...feedback, application: 'nobody' }, 'unknown_application', 'application'),
];

const NO_ID: readonly BadMessage[] = [
  bad('no JSON', '{', 'not_json'),
  bad('nothing', '', 'not_json'),
  bad('NaN', '{"id":NaN}', 'not_json'),
  bad('an array', '[1]', 'wrong_type'),
  bad('null', 'null', 'wrong_type'),
  bad('no id', { ...predict, id: undefined }, 'missing_field', 'id'),
  bad('a text as id', { ...predict, id: '9' }, 'wrong_type', 'id'),
  bad('half an id', { ...predict, id: 1.5 }, 'invalid_value', 'id'),
  bad('a negative id', { ...predict, id: -1 }, 'invalid_value', 'id'),
  bad('an id beyond 32 bits', { ...predict, id: 2 ** 32 }, 'invalid_value', 'id'),
];

const BAD_BINARY: readonly BadMessage[] = [
  bad('an unknown type', patched(2, 77), 'invalid_value', 'type'),
  bad('an answer as a request', patched(2, 0x81), 'invalid_value', 'type'),
  bad('unknown flags', patched(3, 0x80), 'invalid_value', 'flags'),
  bad('the head alone', encodePredict(GOOD).subarray(0, 8), 'malformed_frame'),
  bad('half of the lengths', encodePredict(GOOD).subarray(0, 13), 'malformed_frame'),
  bad('a byte less', encodePredict(GOOD).subarray(0, -1), 'malformed_frame'),
  bad('a byte more', Buffer.concat([encodePredict(GOOD), Buffer.alloc(1)]), 'malformed_frame'),
  bad('a count beyond the end', patched(23, 0x7f), 'malformed_frame'),
  bad('an unknown input type', patched(12, 5), 'invalid_value', 'input_type'),
  bad(
    'another input type',
    encodePredict({ ...GOOD, inputType: 'floats', input: floats(1) }),
    'wrong_type',
    'input_type',
  ),
  bad('an empty input', encodePredict({ ...GOOD, input: doubles() }), 'empty_input', 'input'),
  bad('NaN', encodePredict({ ...GOOD, input: doubles(1, NaN) }), 'number_out_of_range', 'input[1]'),
  bad(
    'an infinity',
    encodePredict({ ...GOOD, input: doubles(-Infinity) }),
    'number_out_of_range',
    'input[0]',
  ),
  bad(
    'a float infinity',
    encodePredict({ ...GOOD, application: 'floats', inputType: 'floats', input: floats(0, 0, Infinity) }),
    'number_out_of_range',
    'input[2]',
  ),
  bad(
    'broken UTF-8',
    encodePredict({ ...GOOD, application: 'strings', inputType: 'strings', input: Uint8Array.of(0xc3) }),
    'not_utf8',
    'input',
  ),
  bad(
    'an unknown application',
    encodePredict({ ...GOOD, application: 'nobody' }),
    'unknown_application',
    'application',
  ),
  bad('no application', encodePredict({ ...GOOD, application: '' }), 'unknown_application', 'application'),
  bad('a long version', encodePredict({ ...GOOD, version: 'v'.repeat(65) }), 'invalid_value', 'version'),
  bad('a long context', encodePredict({ ...GOOD, context: 'c'.repeat(129) }), 'invalid_value', 'context'),
  bad('a broken context', patched(31, 0xff, encodePredict({ ...GOOD, context: 'c' })), 'not_utf8', 'context'),
  bad(
    'a long objective',
    encodePredict({ ...GOOD, objectiveUs: 3_600_000_001 }),
    'invalid_value',
    'latency_slo_micros',
  ),
  bad('a frame too large', encodePredict({ ...GOOD, input: new Uint8Array(LIMIT) }), 'body_too_large'),
  bad(
    'a label in predict',
    patched(18, 1, Buffer.concat([encodePredict(GOOD), Buffer.alloc(1)])),
    'unknown_field',
    'label',
  ),
  bad(
    'feedback on nothing',
    encodeFeedback({ id: 9, application: 'doubles', label: '1' }),
    'missing_field',
    'query_id',
  ),
  bad(
    'feedback with a loss of NaN',
    encodeFeedback({ id: 9, application: 'doubles', queryId: 'q', label: '1', loss: NaN }),
    'invalid_value',
    'loss',
  ),
  bad(
    'feedback on input and query',
    encodeFeedback({ ...GOOD, queryId: 'q', label: '1' }),
    'conflicting_fields',
    'query_id',
  ),
];

describe('bad messages', () => {
  let harness: FrontendHarness;
  let socket: TestSocket;
  beforeAll(async () => {
    harness = await FrontendHarness.start({ webSocketLimits: { messageBytes: LIMIT } });
    socket = await TestSocket.open(harness);
  });
  afterAll(async () => {
    socket.close();
    await harness.close();
  });

  /** The connection goes on: a good message is answered. */
  async function stillAnswers(): Promise<void> {
    socket.send(predict);
    expect(await socket.nextJson()).toMatchObject({ type: 'prediction', id: 9 });
  }

  it.each(BAD_JSON)('JSON: $what is answered under its id', async ({ message, code, field }) => {
    socket.send(message);
    const answer = await socket.nextJson();
    const error = { code, ...(field === undefined ? {} : { field }) };
    expect(answer).toMatchObject({ type: 'error', id: 9, status: ERROR_CATALOGUE[code].status, error });
    await stillAnswers();
  });

  it('offers nothing in an error that is for HTTP only', async () => {
    socket.send({ ...predict, input: undefined });
    expect(await socket.nextJson()).toMatchObject({ error: { message: 'input is required' } });
  });

  it.each(NO_ID)('JSON: $what is answered without an id', async ({ message, code, field }) => {
    socket.send(message);
    const error = { code, ...(field === undefined ? {} : { field }) };
    expect(await socket.nextJson()).toMatchObject({ type: 'error', id: null, error });
    await stillAnswers();
  });

  it.each(BAD_BINARY)('binary: $what is answered under its id', async ({ message, code, field }) => {
    socket.send(message);
    const { data, isBinary } = await socket.next();
    expect(isBinary).toBe(true);
    const status = ERROR_CATALOGUE[code].status;
    expect(decodeAnswer(data)).toMatchObject({
      kind: 'error',
      id: 9,
      status,
      code,
      ...(field === undefined ? {} : { field }),
    });
    await stillAnswers();
  });

  it.each<[string, Buffer, number, RegExp]>([
    ['three bytes', Buffer.from([0x57, 1, 1]), 1002, /at least 8 bytes, 3 came/],
    ['another magic', patched(0, 0x58), 1003, /begins with the byte 0x57/],
    ['another version', patched(1, 2), 1003, /of version 1, 2 came/],
    ['more than twice the limit', Buffer.alloc(2 * LIMIT + 1), 1009, /too large/],
  ])('binary garbage ends the connection: %s', async (_what, message, code, reason) => {
    const other = await TestSocket.open(harness);
    other.send(message);
    const closed = await other.closed();
    expect(closed.code).toBe(code);
    expect(closed.reason).toMatch(reason);
  });

  it.each<[string, Buffer, number]>([
    ['a text that is not UTF-8', Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28]), 1007],
    ['an unmasked frame', Buffer.from([0x81, 0x01, 0x7b]), 1002],
    ['a reserved opcode', Buffer.from([0x83, 0x80, 0, 0, 0, 0]), 1002],
    ['a reserved bit', Buffer.from([0xc1, 0x80, 0, 0, 0, 0]), 1002],
    ['a continuation of nothing', Buffer.from([0x80, 0x80, 0, 0, 0, 0]), 1002],
  ])('a broken protocol ends the connection with a reason: %s', async (_what, bytes, code) => {
    const raw = connect(harness.address.port, '127.0.0.1');
    raw.write(
      'GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    );
    let received = Buffer.alloc(0);
    raw.once('data', () => raw.write(bytes));
    raw.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
    // It does not answer the close frame: it only hears the server out.
    await new Promise<void>((resolve) => {
      raw.on('data', () => {
        if (received.indexOf(0x88) > 0) resolve();
      });
    });
    raw.destroy();
    const close = received.subarray(received.indexOf(0x88));
    expect(close.readUInt16BE(2)).toBe(code);
    expect(close.subarray(4).toString()).not.toBe('');
  });
});

describe('the handshake', () => {
  let harness: FrontendHarness;
  beforeAll(async () => {
    harness = await FrontendHarness.start({ allowedOrigins: ['https://friend.example'] });
  });
  afterAll(() => harness.close());

  function status(headers: Readonly<Record<string, string>>): Promise<number | undefined> {
    const { port } = harness.address;
    const webSocket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers });
    return new Promise((resolve) => {
      webSocket.once('open', () => {
        webSocket.terminate();
        resolve(101);
      });
      webSocket.once('unexpected-response', (request, response) => {
        request.destroy();
        resolve(response.statusCode);
      });
      webSocket.on('error', () => undefined);
    });
  }

  it('lets in programs, pages of its own and allowed pages, and no other', async () => {
    expect(await status({})).toBe(101);
    expect(await status({ origin: `http://127.0.0.1:${harness.address.port}` })).toBe(101);
    expect(await status({ origin: 'https://friend.example' })).toBe(101);
    expect(await status({ origin: 'https://enemy.example' })).toBe(403);
    expect(await status({ origin: 'null' })).toBe(403);
    expect(await status({ origin: 'http://127.0.0.1:1' })).toBe(403);
  });

  it('answers a GET with 426, and elsewhere ignores offers to upgrade', async () => {
    const plain = await harness.send('/ws', { method: 'GET' });
    expect(plain.status).toBe(426);
    expect(plain.json).toMatchObject({ error: { code: 'upgrade_required' } });
    const offered = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAA' };
    const answer = await harness.predict('doubles', { input: [1] }, offered);
    expect(answer.status).toBe(200);
    const elsewhere = { connection: 'Upgrade', upgrade: 'websocket' };
    expect((await harness.send('/nothing', { method: 'GET', headers: elsewhere })).status).toBe(404);
  });

  it('answers a broken handshake with an error of the catalogue', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket' };
    const answer = await harness.send('/ws', { method: 'GET', headers });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ error: { code: 'malformed_http' } });
  });
});
