import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DefaultReason } from '../prediction/index.js';
import { DEFAULT_REASONS } from './schemas.js';
import { addApplication, FrontendHarness } from './tests/harness.js';

describe('predict and update', () => {
  let harness: FrontendHarness;
  beforeAll(async () => {
    harness = await FrontendHarness.start();
  });
  beforeEach(() => {
    harness.service.reply = () => ({});
    harness.service.outcome = { accepted: true, joined: 'query', durable: true };
    harness.service.queries.length = 0;
    harness.service.feedback.length = 0;
  });
  afterAll(() => harness.close());

  const lastInput = () => {
    const { input } = harness.service.queries[harness.service.queries.length - 1];
    return input;
  };

  it('answers with Clipper’s fields and our own', async () => {
    harness.service.reply = () => ({
      output: '{"label":7}',
      models: [
        { name: 'a', version: '1', cached: true },
        { name: 'b', version: '2.0', cached: false },
      ],
      confidence: 0.5,
    });
    const { status, json, headers } = await harness.predict('doubles', { input: [1.5, -2] });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json');
    expect(json).toEqual({
      query_id: expect.stringMatching(/^test-[0-9a-z]+$/) as string,
      output: { label: 7 },
      default: false,
      confidence: 0.5,
      cached: false,
      models: [
        { name: 'a', version: '1', cached: true },
        { name: 'b', version: '2.0', cached: false },
      ],
    });
  });

  it('gives each query its own id', async () => {
    const ids = new Set<unknown>();
    for (let i = 0; i < 5; i++) {
      ids.add(((await harness.predict('doubles', { input: [i] })).json as { query_id: string }).query_id);
    }
    expect(ids.size).toBe(5);
  });

  it('takes whole numbers as doubles and floats, and one trailing slash and a query string', async () => {
    for (const path of ['/doubles/predict/', '/doubles/predict?x=/y', '/doubles/predict/?']) {
      expect((await harness.send(path, { body: '{"input":[1,2]}' })).status).toBe(200);
    }
    expect([...new Float64Array(lastInput().slice().buffer)]).toEqual([1, 2]);
    await harness.predict('floats', { input: [1, 0.1] });
    expect([...new Float32Array(lastInput().slice().buffer)]).toEqual([1, Math.fround(0.1)]);
    await harness.predict('integers', { input: [-2147483648, 2147483647] });
    expect([...new Int32Array(lastInput().slice().buffer)]).toEqual([-2147483648, 2147483647]);
    await harness.predict('bytes', { input: 'AP8=' });
    expect([...lastInput()]).toEqual([0, 255]);
    await harness.predict('strings', { input: 'grüße' });
    expect(Buffer.from(lastInput()).toString()).toBe('grüße');
  });

  it('reads a content type with a charset, a body in pieces and the last of two equal keys', async () => {
    const headers = { 'content-type': 'Application/JSON; charset="UTF-8"', 'transfer-encoding': 'chunked' };
    const { status } = await harness.send('/doubles/predict', { body: '{"input":[1],"input":[2]}', headers });
    expect(status).toBe(200);
    expect([...new Float64Array(lastInput().slice().buffer)]).toEqual([2]);
  });

  it('hands context, version, objective and trace to the engine', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const body = { input: [1], uid: 42, version: '3', latency_slo_micros: 5000 };
    await harness.predict('doubles', body, { traceparent });
    expect(harness.service.queries[0]).toMatchObject({
      application: 'doubles',
      context: '42',
      version: '3',
      budgetNs: 5_000_000,
      traceparent,
    });
    await harness.predict('doubles', { input: [1], context: 'de', latency_slo_micros: 1e9 });
    // No query gets longer than its application's objective.
    expect(harness.service.queries[1]).toMatchObject({ context: 'de', budgetNs: 100_000_000 });
  });

  it.each([
    ['00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
    ['00-00000000000000000000000000000000-b7ad6b7169203331-01'],
    ['00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01'],
    ['01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
    ['nonsense'],
  ])('ignores the trace header %s', async (traceparent) => {
    expect((await harness.predict('doubles', { input: [1] }, { traceparent })).status).toBe(200);
    expect(harness.service.queries[0].traceparent).toBeUndefined();
  });

  it.each([
    ['7', 7],
    ['"seven"', 'seven'],
    ['seven', 'seven'],
    ['', ''],
    ['007', '007'],
    ['NaN', null],
    ['[1, NaN, -Infinity, Infinity]', [1, null, null, null]],
    ['{"a":"NaN, \\"Infinity","b":NaN}', { a: 'NaN, "Infinity', b: null }],
    ['it is NaN', 'it is NaN'],
    ['a "quote"\n', 'a "quote"\n'],
    ['\ud800', '\ud800'],
  ])('embeds the output %j', async (output, expected) => {
    harness.service.reply = () => ({ output });
    const { json } = await harness.predict('doubles', { input: [1] });
    expect((json as { output: unknown }).output).toEqual(expected);
  });

  it.each(DEFAULT_REASONS.map((reason): [DefaultReason] => [reason]))(
    'tells a default: %s',
    async (reason) => {
      harness.service.reply = () => ({
        output: '"default"',
        isDefault: true,
        defaultReason: reason,
        models: [],
        confidence: 0,
      });
      const { status, json, headers } = await harness.predict('doubles', { input: [1] });
      expect(status).toBe(200);
      expect(headers['x-windjammer-default']).toBe(reason);
      expect(json).toMatchObject({ output: 'default', default: true, default_reason: reason, models: [] });
      expect((json as { default_explanation: string }).default_explanation).toMatch(/\.$/);

      const strict = await harness.predict('doubles', { input: [1], strict: true });
      expect(strict.status).toBeGreaterThanOrEqual(502);
      expect((strict.json as { error: { code: string } }).error.code).toMatch(/^default_/);
    },
  );

  it('tells a strict client when the queues have room again, in whole seconds', async () => {
    for (const [retryAfterNs, seconds] of [
      [2e6, '1'],
      [2.1e9, '3'],
    ] as const) {
      harness.service.reply = () => ({ isDefault: true, defaultReason: 'overload', retryAfterNs });
      const { status, headers } = await harness.predict('doubles', { input: [1], strict: true });
      expect([status, headers['retry-after']]).toEqual([503, seconds]);
      const lenient = await harness.predict('doubles', { input: [1] });
      expect(lenient.headers['retry-after']).toBeUndefined();
    }
  });

  it('answers a batch in order, each bad input with its own error', async () => {
    harness.service.reply = ({ input }) => {
      const [first] = new Float64Array(input.slice().buffer);
      if (first === 3) return { code: 'invalid_input', message: 'three is refused', field: 'input' };
      return { output: String(first) };
    };
    const body = '{"input_batch":[[1],[],[3],["x"],[1e400],[6]]}';
    const { status, json } = await harness.send('/doubles/predict', { body });
    expect(status).toBe(200);
    const parts = (
      json as { batch_predictions: { output?: number; error?: { code: string; field: string } }[] }
    ).batch_predictions;
    expect(parts.map((part) => part.output ?? [part.error?.code, part.error?.field])).toEqual([
      1,
      ['empty_input', 'input_batch[1]'],
      ['invalid_input', 'input_batch[2]'],
      ['wrong_type', 'input_batch[3][0]'],
      ['number_out_of_range', 'input_batch[4][0]'],
      6,
    ]);
  });

  it('keeps a batch of one a batch', async () => {
    const { json } = await harness.predict('doubles', { input_batch: [[1]] });
    expect((json as { batch_predictions: unknown[] }).batch_predictions).toHaveLength(1);
  });

  it('refuses another length than the linked models take, unless another version is asked', async () => {
    await addApplication(harness.registry, 'three', 'doubles');
    await harness.registry.addModel({
      name: 'three',
      version: '1',
      inputType: 'doubles',
      inputLength: 3,
      labels: [],
      container: { kind: 'constant', output: '0' },
      batching: { strategy: 'aimd' },
    });
    await harness.registry.addLinks('three', ['three']);
    const short = await harness.predict('three', { input: [1, 2] });
    expect(short.json).toMatchObject({ error: { code: 'wrong_length', field: 'input' } });
    expect((await harness.predict('three', { input: [1, 2, 3] })).status).toBe(200);
    expect((await harness.predict('three', { input: [1, 2], version: '2' })).status).toBe(200);
  });

  it('serves an application as soon as it is registered, and no longer once it is deleted', async () => {
    await addApplication(harness.registry, 'fresh', 'doubles');
    expect((await harness.predict('fresh', { input: [1] })).status).toBe(200);
    await harness.registry.deleteApplication('fresh');
    expect((await harness.predict('fresh', { input: [1] })).status).toBe(404);
  });

  it('takes feedback by query id or input', async () => {
    const byId = await harness.send('/doubles/update', {
      body: '{"query_id":"test-1","label":7,"loss":0.25}',
    });
    expect(byId.json).toEqual({ accepted: true, joined: 'query', durable: true });
    await harness.send('/doubles/update', { body: '{"input":[1],"label":"seven","uid":"u"}' });
    expect(harness.service.feedback).toMatchObject([
      { application: 'doubles', queryId: 'test-1', label: '7', loss: 0.25, context: '' },
      {
        application: 'doubles',
        label: 'seven',
        context: 'u',
        input: new Uint8Array(new Float64Array([1]).buffer),
      },
    ]);
    // Digit by digit, where a double would be another number.
    await harness.send('/doubles/update', { body: '{"query_id":"test-1","label":-9007199254740993}' });
    expect(harness.service.feedback.at(-1)).toMatchObject({ label: '-9007199254740993' });
  });

  it('says when feedback taught nothing', async () => {
    harness.service.outcome = { accepted: false, joined: 'none', durable: true };
    const unknown = await harness.send('/doubles/update', { body: '{"query_id":"gone","label":7}' });
    expect(unknown.status).toBe(404);
    expect(unknown.json).toMatchObject({ error: { code: 'unknown_query', field: 'query_id' } });
    expect((await harness.send('/doubles/update', { body: '{"input":[1],"label":7}' })).status).toBe(503);
  });

  it('cancels the query of a client that leaves', async () => {
    const { service } = harness;
    service.holding = true;
    const socket = connect(harness.address.port, '127.0.0.1');
    const taken = new Promise<void>((resolve) => (service.onQuery = resolve));
    const body = '{"input":[1]}';
    socket.write(
      `POST /doubles/predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await taken;
    const cancelled = new Promise<void>((resolve) => {
      const cancel = service.cancel.bind(service);
      service.cancel = (id) => {
        resolve();
        return cancel(id);
      };
    });
    socket.destroy();
    await cancelled;
    expect(service.cancelled).toEqual([service.queries[0].id]);
    service.holding = false;
    service.release();
  });

  it('answers pipelined requests in order', async () => {
    harness.service.reply = ({ input }) => ({ output: String(new Float64Array(input.slice().buffer)[0]) });
    const socket = connect(harness.address.port, '127.0.0.1');
    const one = (value: number) => {
      const body = `{"input":[${value}]}`;
      return `POST /doubles/predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    };
    socket.write(one(1) + one(2) + one(3));
    const outputs: string[] = await new Promise((resolve) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
        const found = [...text.matchAll(/"output":(\d)/g)].map((match) => match[1]);
        if (found.length === 3) resolve(found);
      });
    });
    expect(outputs).toEqual(['1', '2', '3']);
    socket.destroy();
  });

  it.each([
    ['nonsense\r\n\r\n', 400, 'malformed_http'],
    [`GET / HTTP/1.1\r\nHost: x\r\nBig: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ])('answers broken HTTP with the catalogue and closes', async (bytes, status, code) => {
    const socket = connect(harness.address.port, '127.0.0.1');
    socket.write(bytes);
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    await new Promise((resolve) => socket.on('close', resolve));
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(text).toContain(`"code":"${code}"`);
    // And the server goes on.
    expect((await harness.predict('doubles', { input: [1] })).status).toBe(200);
  });
});

describe('the limit of a body', () => {
  it.each([
    ['with its length', {}],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])('is exact and configurable, %s', async (_how, headers) => {
    const harness = await FrontendHarness.start({ maxBodyBytes: 100 });
    const bodyOf = (bytes: number) => '{"input":[1]}'.padEnd(bytes);
    const send = (bytes: number) =>
      harness.send('/doubles/predict', {
        body: bodyOf(bytes),
        headers: { 'content-type': 'application/json', ...headers },
      });
    expect((await send(100)).status).toBe(200);
    const refused = await send(101);
    expect(refused.status).toBe(413);
    expect(refused.json).toMatchObject({ error: { code: 'body_too_large' } });
    expect((await send(100)).localPort).toBe(refused.localPort);
    await harness.close();
  });
});

describe('other routes', () => {
  it('serves metrics, health and readiness', async () => {
    const harness = await FrontendHarness.start();
    const get = (path: string) => harness.send(path, { method: 'GET' });
    expect((await get('/metrics')).text).toBe('metric 1\n');
    for (const [accept, format] of [
      ['*/*', 'prometheus'],
      ['application/json', 'prometheus'],
      ['text/plain;version=0.0.4;q=1,*/*;q=0.1', 'prometheus'],
      ['application/openmetrics-text', 'openMetrics'],
      [
        'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
        'openMetrics',
      ],
      ['application/openmetrics-text;version=2.0.0', 'prometheus'],
    ]) {
      const { headers } = await harness.send('/metrics', { method: 'GET', headers: { accept } });
      expect([accept, headers['content-type'], headers.vary]).toEqual([accept, format, 'accept']);
    }
    expect((await get('/healthz')).json).toEqual({ status: 'ok' });
    expect((await get('/readyz')).json).toEqual({ status: 'ready' });
    await harness.close();
  });

  it('answers 408 to a body that does not come', async () => {
    const harness = await FrontendHarness.start({
      timeouts: { headersMs: 100, requestMs: 100, keepAliveMs: 1000 },
    });
    const socket = connect(harness.address.port, '127.0.0.1');
    socket.write(
      'POST /doubles/predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    );
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    await new Promise((resolve) => socket.on('close', resolve));
    expect(text).toContain('"code":"request_timeout"');
    await harness.close();
  });
});
