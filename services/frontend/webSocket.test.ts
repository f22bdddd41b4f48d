import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { decodeAnswer, encodeCancel, encodeFeedback, encodePredict } from '../wire/index.js';
import type { WebSocketLimits } from './websocket/limits.js';
import { FrontendHarness } from './tests/harness.js';
import { TestSocket } from './tests/webSocketHarness.js';

const doubles = (...values: number[]) => new Uint8Array(Float64Array.from(values).buffer);
const predict = (id: number, input: readonly number[] = [id]) => ({
  type: 'predict',
  id,
  application: 'doubles',
  input,
});

describe('a WebSocket', () => {
  let harness: FrontendHarness;
  let socket: TestSocket;

  async function open(webSocketLimits: Partial<WebSocketLimits> = {}): Promise<void> {
    harness = await FrontendHarness.start({ webSocketLimits });
    socket = await TestSocket.open(harness);
  }

  /** Resolves once the engine has taken so many queries. */
  function taken(count: number): Promise<void> {
    const { service } = harness;
    return new Promise((resolve) => {
      service.onQuery = () => {
        if (service.queries.length >= count) resolve();
      };
      service.onQuery();
    });
  }

  /** Resolves once so many queries were withdrawn. */
  function cancelled(count: number): Promise<void> {
    const { service } = harness;
    return new Promise((resolve) => {
      service.onCancel = () => {
        if (service.cancelled.length >= count) resolve();
      };
      service.onCancel();
    });
  }

  afterEach(async () => {
    socket.close();
    await harness.close();
  });

  it('matches answers that come out of order, binary and JSON mixed', async () => {
    await open();
    const { service } = harness;
    service.holding = true;
    service.reply = ({ input }) => ({ output: String(new Float64Array(input.slice().buffer)[0]) });
    for (let id = 0; id < 20; id++) {
      const input = doubles(id);
      const binary = encodePredict({ id, application: 'doubles', inputType: 'doubles', input });
      socket.send(id % 2 === 0 ? predict(id) : binary);
    }
    await taken(20);
    service.releaseReversed();
    for (let id = 19; id >= 0; id--) {
      const { data, isBinary } = await socket.next();
      expect(isBinary).toBe(id % 2 === 1);
      if (isBinary) expect(decodeAnswer(data)).toMatchObject({ kind: 'prediction', id, output: String(id) });
      else expect(JSON.parse(data.toString())).toMatchObject({ type: 'prediction', id, output: id });
    }
  });

  it('passes on everything that a query says', async () => {
    await open();
    const { service } = harness;
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const options = { version: '2', context: 'anna', latency_slo_micros: 500, traceparent };
    socket.send({ ...predict(1), ...options });
    await socket.next();
    socket.send(
      encodePredict({
        id: 1,
        application: 'doubles',
        inputType: 'doubles',
        input: doubles(1),
        version: '2',
        context: 'anna',
        objectiveUs: 500,
      }),
    );
    await socket.next();
    const { id: first, ...fromJson } = service.queries[0];
    const { id: second, ...fromBinary } = service.queries[1];
    expect(first).not.toBe(second);
    expect(fromJson).toMatchObject({ version: '2', context: 'anna', budgetNs: 500_000, traceparent });
    expect({ ...fromBinary, traceparent }).toEqual(fromJson);
  });

  it('answers defaults, strict errors, refusals and feedback in both formats', async () => {
    await open();
    const { service } = harness;
    service.reply = () => ({ output: '"d"', isDefault: true, defaultReason: 'deadline', models: [] });
    const frame = { id: 2, application: 'doubles', inputType: 'doubles', input: doubles(1) } as const;
    socket.send(predict(1));
    expect(await socket.nextJson()).toMatchObject({ default: true, default_reason: 'deadline', output: 'd' });
    socket.send(encodePredict(frame));
    const fromDefault = decodeAnswer((await socket.next()).data);
    expect(fromDefault).toMatchObject({ isDefault: true, defaultReason: 'deadline', output: '"d"' });
    socket.send({ ...predict(1), strict: true });
    expect(await socket.nextJson()).toMatchObject({ status: 504, error: { code: 'default_deadline' } });
    socket.send(encodePredict({ ...frame, strict: true }));
    expect(decodeAnswer((await socket.next()).data)).toMatchObject({ status: 504, code: 'default_deadline' });
    service.reply = () => ({ code: 'unknown_version', message: 'no such version', field: 'version' });
    socket.send({ ...predict(1), version: '9' });
    expect(await socket.nextJson()).toMatchObject({ error: { code: 'unknown_version', field: 'version' } });

    socket.send({ type: 'feedback', id: 3, application: 'doubles', query_id: 'q', label: 7 });
    expect(await socket.nextJson()).toEqual({
      type: 'feedback',
      id: 3,
      accepted: true,
      joined: 'query',
      durable: true,
    });
    const { id, application, ...input } = frame;
    socket.send(encodeFeedback({ id, application, ...input, label: '7', loss: 0.25, context: 'ann' }));
    const learned = decodeAnswer((await socket.next()).data);
    expect(learned).toEqual({ kind: 'feedback', id: 2, joined: 'query', durable: true });
    const common = { application: 'doubles', label: '7' };
    expect(service.feedback[0]).toMatchObject({ ...common, queryId: 'q' });
    expect(service.feedback[1]).toMatchObject({ ...common, loss: 0.25, context: 'ann', input: doubles(1) });
    // Digit by digit, where a double would be another number.
    socket.send('{"type":"feedback","id":4,"application":"doubles","query_id":"q","label":9007199254740993}');
    await socket.nextJson();
    expect(service.feedback[2]).toMatchObject({ label: '9007199254740993' });
    service.outcome = { accepted: false, joined: 'none', durable: false };
    socket.send({ type: 'feedback', id: 3, application: 'doubles', query_id: 'q', label: 7 });
    expect(await socket.nextJson()).toMatchObject({ id: 3, error: { code: 'unknown_query' } });
  });

  it('refuses an id in flight and too many messages, and answers the others all the same', async () => {
    await open({ inFlight: 2 });
    harness.service.holding = true;
    for (const id of [1, 1, 2, 3]) socket.send(predict(id));
    const errors = [await socket.nextJson(), await socket.nextJson()];
    expect(errors).toMatchObject([
      { id: 1, status: 409, error: { code: 'duplicate_id' } },
      { id: 3, status: 429, error: { code: 'too_many_in_flight' } },
    ]);
    harness.service.release();
    expect(await socket.nextJson()).toMatchObject({ type: 'prediction', id: 1 });
    expect(await socket.nextJson()).toMatchObject({ type: 'prediction', id: 2 });
    harness.service.holding = false;
    socket.send(predict(1));
    expect(await socket.nextJson()).toMatchObject({ type: 'prediction', id: 1 });
  });

  it('withdraws a query on request: no answer, and its id is free', async () => {
    await open();
    const { service } = harness;
    service.holding = true;
    socket.send(predict(1));
    socket.send(predict(2));
    socket.send({ type: 'cancel', id: 1 });
    socket.send(encodeCancel(2));
    // Of nothing in flight: ignored.
    socket.send({ type: 'cancel', id: 77 });
    socket.send(predict(1, [5]));
    await taken(3);
    expect(service.cancelled).toEqual(service.queries.slice(0, 2).map(({ id }) => id));
    service.reply = ({ id }) => ({ output: JSON.stringify(id) });
    service.release();
    expect(await socket.nextJson()).toMatchObject({ id: 1, output: service.queries[2].id });
    expect(socket.unread).toBe(0);
  });

  it('withdraws every query of a connection that is gone', async () => {
    await open();
    const { service } = harness;
    service.holding = true;
    for (let id = 0; id < 5; id++) socket.send(predict(id));
    await taken(5);
    expect(harness.frontend.webSocketCount()).toBe(1);
    socket.close();
    await cancelled(5);
    expect(service.cancelled).toEqual(service.queries.map(({ id }) => id));
    await new Promise((resolve) => setImmediate(resolve));
    expect(harness.frontend.webSocketCount()).toBe(0);
    // Answers that come all the same go nowhere.
    service.release();
  });

  it('stops reading a client that does not read, within bounds, and goes on when it does', async () => {
    const outputBytes = 64 * 1024;
    await open({ outputBytes });
    const { service } = harness;
    const output = JSON.stringify('x'.repeat(8192));
    service.reply = () => ({ output });
    socket.webSocket.pause();
    // 20,000 answers of 8 KiB would be 160 MiB.
    const total = 20_000;
    for (let id = 0; id < total; id++) socket.send(predict(id, [1]));
    // Its own buffers full, the server stops taking: nothing more comes for a while.
    let before = -1;
    while (service.queries.length !== before || before < 100) {
      before = service.queries.length;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(service.queries.length).toBeLessThan(total / 2);
    // What one read of the socket held may come on top; the kernel's own buffers are not the server's.
    expect(harness.frontend.webSocketBufferedBytes()).toBeLessThan(outputBytes + 1500 * 8300);
    socket.webSocket.resume();
    for (let id = 0; id < total; id++) {
      const { data } = await socket.next();
      const head = `{"type":"prediction","id":${id},`;
      if (data.toString('latin1', 0, head.length) !== head) throw new Error(`expected the answer to ${id}`);
    }
    expect(service.queries.length).toBe(total);
  });

  it('stops reading while the inputs in flight are large', async () => {
    await open({ inputBytes: 1024 * 1024 });
    const { service } = harness;
    service.holding = true;
    const input = new Uint8Array(512 * 1024);
    for (let id = 0; id < 20; id++) {
      socket.send(encodePredict({ id, application: 'bytes', inputType: 'bytes', input }));
    }
    await taken(3);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(service.queries.length).toBeLessThan(6);
    service.holding = false;
    service.release();
    for (let id = 0; id < 20; id++) await socket.next();
  });

  it('drains: answers what is in flight, refuses what is new, closes with 1001', async () => {
    await open();
    const { service, frontend } = harness;
    service.holding = true;
    socket.send(predict(1));
    await taken(1);
    const idle = await TestSocket.open(harness);
    const drained = frontend.drain(0, 5000);
    expect(await idle.closed()).toEqual({ code: 1001, reason: 'the server is draining' });
    socket.send(predict(2));
    expect(await socket.nextJson()).toMatchObject({ id: 2, status: 503, error: { code: 'shutting_down' } });
    service.release();
    expect(await socket.nextJson()).toMatchObject({ type: 'prediction', id: 1 });
    expect((await socket.closed()).code).toBe(1001);
    await drained;
    await expect(TestSocket.open(harness)).rejects.toThrow();
  });

  it('cuts what is left after the grace', async () => {
    await open();
    harness.service.holding = true;
    socket.send(predict(1));
    await taken(1);
    const drained = harness.frontend.drain(0, 30);
    expect((await socket.closed()).code).toBe(1006);
    harness.service.release();
    await drained;
  });

  it('keeps a peer that answers pings, and cuts a silent one with its queries', async () => {
    await open({ pingMs: 200 });
    harness.service.holding = true;
    const silent = await TestSocket.open(harness, { autoPong: false });
    silent.send(predict(1));
    await taken(1);
    expect((await silent.closed()).code).toBe(1006);
    await cancelled(1);
    // The other one has been pinged as often.
    harness.service.holding = false;
    socket.send(predict(1));
    expect(await socket.nextJson()).toMatchObject({ type: 'prediction', id: 1 });
  });

  it('holds few pongs for a peer that pings without end and reads nothing, and cuts it', async () => {
    await open({ pingMs: 200 });
    const raw = connect(harness.address.port, '127.0.0.1');
    raw.on('error', () => undefined);
    raw.write(
      'GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n\r\n',
    );
    // A masked ping of 125 bytes, many times.
    const pings = Buffer.alloc(131 * 8192);
    for (let at = 0; at < pings.length; at += 131) pings.writeUInt16BE(0x89fd, at);
    let most = 0;
    const write = () => {
      most = Math.max(most, harness.frontend.webSocketBufferedBytes());
      if (!raw.destroyed) raw.write(pings, () => setImmediate(write));
    };
    write();
    await new Promise((resolve) => raw.once('close', resolve));
    expect(most).toBeLessThan(1024 * 1024);
  });

  it('keeps a peer that sends anything at all: its pongs come behind a large message', async () => {
    await open({ pingMs: 100 });
    const busy = await TestSocket.open(harness, { autoPong: false });
    let pings = 0;
    await new Promise<void>((resolve) => {
      busy.webSocket.on('ping', () => {
        if ((pings += 1) === 5) resolve();
        busy.webSocket.pong('', true, () => undefined);
        busy.webSocket.ping();
      });
    });
    busy.send(predict(1));
    expect(await busy.nextJson()).toMatchObject({ type: 'prediction', id: 1 });
    busy.close();
  });
});
