import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddedServer } from '../main.js';
import { startEmbedded } from './embeddedServer.js';

/** What hurts users of prediction servers, held against a whole server: engine, registry, management and metrics. */
describe('a whole server', () => {
  let server: EmbeddedServer;
  let query: string;
  let management: string;
  let outputs = 0;

  beforeAll(async () => {
    server = await startEmbedded({
      maxBodyBytes: 2000,
      maxBatchInputs: 200,
    });
    query = `http://127.0.0.1:${server.queryAddress.port}`;
    management = `http://127.0.0.1:${server.managementAddress.port}/admin`;
    for (const type of ['doubles', 'strings', 'bytes', 'integers']) {
      await application(type, type, '7');
    }
  });
  afterAll(() => server.stop({ noticeMs: 0, graceMs: 1000 }));

  async function post(
    url: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; json: unknown; headers: Headers }> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: text,
    });
    const answer = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    // A strict parser: NaN and Infinity would throw here.
    return { status: response.status, json: isJson ? JSON.parse(answer) : answer, headers: response.headers };
  }

  /** An application over one constant model that answers `output`; no model without it. */
  async function application(name: string, type: string, output?: string, more: object = {}): Promise<void> {
    const app = { name, input_type: type, default_output: '"none"', latency_slo_micros: 1_000_000, ...more };
    expect(await post(`${management}/add_app`, app)).toMatchObject({ status: 200 });
    if (output === undefined) return;
    const model = { model_name: name, model_version: '1', input_type: type, output };
    const added = await post(`${management}/add_model`, {
      ...model,
      container_name: 'windjammer/constant',
    });
    expect(added).toMatchObject({ status: 200 });
    await post(`${management}/add_model_links`, { app_name: name, model_names: [name] });
    // Deployed from memory: up before anybody could ask, but told through the event loop.
    for (;;) {
      const { json } = await post(`${management}/get_all_containers`, { verbose: true });
      const replicas = json as { model_name: string; state: string }[];
      if (replicas.some((one) => one.model_name === name && one.state === 'up')) return;
    }
  }

  async function metric(pattern: RegExp): Promise<number> {
    const text = await (await fetch(`${query}/metrics`)).text();
    const line = text.split('\n').find((one) => pattern.test(one));
    return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(' ')));
  }

  it.each([
    ['doubles', '{"input":[]}', [1]],
    ['doubles', '{"input":{"b64":""}}', [1]],
    ['strings', '{"input":""}', 'x'],
    ['bytes', '{"input":""}', 'eA=='],
    ['integers', '{"input_batch":[[],[]]}', [1]],
  ])('goes on after an empty input of %s: %s', async (type, body, good) => {
    const empty = await post(`${query}/${type}/predict`, body);
    expect(JSON.stringify(empty.json)).toContain('"code":"empty_input"');
    for (let i = 0; i < 100; i++) {
      const { status, json } = await post(`${query}/${type}/predict`, { input: good });
      expect([status, json]).toMatchObject([200, { output: 7, default: false }]);
    }
    expect((await fetch(`${query}/readyz`)).status).toBe(200);
  });

  it.each([
    ['NaN', null],
    ['-Infinity', null],
    ['[1,NaN,Infinity,-Infinity,2]', [1, null, null, null, 2]],
    ['{"scores":[NaN,0.5],"name":"NaN"}', { scores: [null, 0.5], name: 'NaN' }],
    ['[[NaN],[Infinity]]', [[null], [null]]],
    ['not NaN', 'not NaN'],
  ])('answers the output %s as JSON that a strict parser takes', async (output, expected) => {
    const name = `output-${outputs++}`;
    await application(name, 'doubles', output);
    const { status, json } = await post(`${query}/${name}/predict`, { input: [1] });
    expect([status, (json as { output: unknown }).output]).toEqual([200, expected]);
    const batch = await post(`${query}/${name}/predict`, { input_batch: [[1], [2]] });
    const parts = (batch.json as { batch_predictions: { output: unknown }[] }).batch_predictions;
    expect(parts.map((part) => part.output)).toEqual([expected, expected]);
  });

  it('holds its limits to the byte and to the input, for batches of small inputs too', async () => {
    const bodyOf = (bytes: number) => '{"input":[1]}'.padEnd(bytes);
    expect((await post(`${query}/doubles/predict`, bodyOf(2000))).status).toBe(200);
    const over = await post(`${query}/doubles/predict`, bodyOf(2001));
    expect([over.status, over.json]).toMatchObject([413, { error: { code: 'body_too_large' } }]);
    expect((over.json as { error: { message: string } }).error.message).toContain('2000');

    const batchOf = (size: number) => `{"input_batch":[${Array<string>(size).fill('[1]').join()}]}`;
    expect((await post(`${query}/doubles/predict`, batchOf(200))).status).toBe(200);
    const many = await post(`${query}/doubles/predict`, batchOf(201));
    expect([many.status, many.json]).toMatchObject([
      413,
      { error: { code: 'batch_too_large', field: 'input_batch' } },
    ]);
    const long = await post(`${query}/doubles/predict`, batchOf(600));
    expect([long.status, long.json]).toMatchObject([413, { error: { code: 'body_too_large' } }]);
  });

  it('answers what it does not know and keeps the connection', async () => {
    const socket = connect(server.queryAddress.port, '127.0.0.1');
    await once(socket, 'connect');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const ask = async (method: string, path: string, status: number): Promise<void> => {
      text = '';
      const body = method === 'POST' ? '{"input":[1]}' : '';
      socket.write(
        `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await once(socket, 'data');
      expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      if (status === 405) expect(text).toMatch(/^allow: POST\r$/im);
      if (status !== 200) expect(text).toContain('{"error":{"code":');
    };
    for (const name of ['nobody', '.*', '__proto__', 'constructor', '%E2%98%83', 'x'.repeat(300)]) {
      await ask('POST', `/${name}/predict`, 404);
    }
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) await ask(method, '/doubles/predict', 405);
    await ask('POST', '/doubles/predict', 200);
    socket.destroy();
  });

  it('takes whole numbers as doubles, and no parts or strangers as integers', async () => {
    expect((await post(`${query}/doubles/predict`, { input: [1, 2] })).json).toMatchObject({
      default: false,
    });
    for (const [input, code] of [
      [[1.5], 'number_out_of_range'],
      [[2 ** 31], 'number_out_of_range'],
      [[-(2 ** 31) - 1], 'number_out_of_range'],
      [['1'], 'wrong_type'],
    ] as const) {
      const { status, json } = await post(`${query}/integers/predict`, { input });
      expect([status, json]).toMatchObject([400, { error: { code, field: 'input[0]' } }]);
    }
  });

  it('tells every default by flag, reason and metric, and a strict client by its status', async () => {
    await application('unlinked', 'doubles');
    const series = /windjammer_queries_total\{.*application="unlinked".*reason="no_linked_model"/;
    const lenient = await post(`${query}/unlinked/predict`, { input_batch: [[1], [2]] });
    expect(lenient.status).toBe(200);
    expect(lenient.headers.get('x-windjammer-default')).toBe('no_linked_model');
    const one = { output: 'none', default: true, default_reason: 'no_linked_model' };
    expect(lenient.json).toMatchObject({ batch_predictions: [one, one] });
    expect(await metric(series)).toBe(2);
    const strict = await post(`${query}/unlinked/predict`, { input: [1] }, { 'x-windjammer-strict': 'true' });
    expect([strict.status, strict.json]).toMatchObject([503, { error: { code: 'default_unavailable' } }]);
    expect(strict.headers.get('retry-after')).toBe('1');
    expect(await metric(series)).toBe(3);

    await application('severe', 'doubles', undefined, { strict: true });
    expect((await post(`${query}/severe/predict`, { input: [1] })).status).toBe(503);
    expect((await post(`${query}/severe/predict`, { input: [1], strict: false })).status).toBe(200);
    const shown = await post(`${management}/get_application`, { name: 'severe' });
    expect(shown.json).toMatchObject({ strict: true });
  });

  it('answers a request whose time is over from the cache, or with the default at once', async () => {
    const asked = await post(`${query}/doubles/predict`, { input: [4242] }, { 'grpc-timeout': '1n' });
    expect(asked.json).toMatchObject({ default: true, default_reason: 'deadline' });
    const headers = { 'grpc-timeout': '1n', 'x-windjammer-strict': 'true' };
    expect((await post(`${query}/doubles/predict`, { input: [4243] }, headers)).status).toBe(504);
    await post(`${query}/doubles/predict`, { input: [4244] });
    const cached = await post(`${query}/doubles/predict`, { input: [4244] }, headers);
    expect([cached.status, cached.json]).toMatchObject([200, { default: false, cached: true }]);
  });

  it('refuses rewards of a wrong type, and learns from right ones', async () => {
    await application('bandit', 'doubles', '1', { policy: { name: 'exp3' } });
    await post(`${management}/add_model`, {
      model_name: 'wrong',
      model_version: '1',
      input_type: 'doubles',
      container_name: 'windjammer/constant',
      output: '2',
    });
    await post(`${management}/add_model_links`, { app_name: 'bandit', model_names: ['wrong'] });
    const shares = async () =>
      ((await post(`${management}/get_state`, { app_name: 'bandit' })).json as { shares: object }).shares;
    const before = await shares();
    for (const [feedback, field] of [
      [{ input: [1], label: 1, loss: '1' }, 'loss'],
      [{ input: [1], label: 1, loss: 1.5 }, 'loss'],
      [{ input: [1], label: { value: 1 } }, 'label'],
      [{ input: [1], label: true }, 'label'],
      [{ input: ['1'], label: 1 }, 'input[0]'],
      [{ query_id: 7, label: 1 }, 'query_id'],
    ] as const) {
      const { status, json } = await post(`${query}/bandit/update`, feedback);
      expect([status, json]).toMatchObject([400, { error: { field } }]);
    }
    expect(await shares()).toEqual(before);
    for (let i = 0; i < 20; i++) {
      const { json } = await post(`${query}/bandit/predict`, { input: [i] });
      const { query_id } = json as { query_id: string };
      expect((await post(`${query}/bandit/update`, { query_id, label: 1 })).status).toBe(200);
    }
    const after = (await shares()) as Record<string, number>;
    expect(after.bandit).toBeGreaterThan(after.wrong);
  });

  it.each([
    '',
    'nonsense',
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  ])('ignores the malformed traceparent %j', async (traceparent) => {
    const { status } = await post(`${query}/doubles/predict`, { input: [1] }, { traceparent });
    expect(status).toBe(200);
  });
});
