import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { EmbeddedServer } from '../main.js';
import { startEmbedded } from '../tests/embeddedServer.js';
import { RecordedSpans, spanId, traceId } from './tests/tracedServing.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`;

describe('requests in traces', () => {
  let server: EmbeddedServer;
  let spans: RecordedSpans;
  let url: string;
  beforeAll(async () => {
    spans = new RecordedSpans();
    server = await startEmbedded({
      tracing: spans.tracing,
    });
    url = `http://127.0.0.1:${server.queryAddress.port}`;
    const { registry } = server;
    const application = { inputType: 'doubles', defaultOutput: '-1', latencyObjectiveUs: 5_000_000 } as const;
    await registry.addApplication({
      ...application,
      name: 'app',
      policy: { name: 'static', parameters: {} },
    });
    await registry.addApplication({
      ...application,
      name: 'idle',
      policy: { name: 'static', parameters: {} },
    });
    await registry.addModel({
      name: 'm',
      version: '1',
      inputType: 'doubles',
      labels: [],
      container: { kind: 'constant', output: '7' },
      batching: { strategy: 'aimd' },
    });
    await registry.addLinks('app', ['m']);
    await vi.waitFor(() => expect(server.replicas().map(({ state }) => state)).toEqual(['up']));
  });
  afterAll(() => server.stop({ noticeMs: 0, graceMs: 1000 }));
  beforeEach(() => spans.clear());

  async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    await response.text();
    return response;
  }

  /** The span of the request, which ends with its response. */
  async function server1() {
    await vi.waitFor(() => expect(spans.ofKind(SpanKind.SERVER)).toHaveLength(1));
    return spans.ofKind(SpanKind.SERVER)[0];
  }

  it('go on in the trace of the client, with its id, parent and state', async () => {
    const response = await post(
      '/app/predict?verbose=1',
      { input: [1] },
      {
        traceparent: TRACEPARENT,
        tracestate: 'vendor=a:1,other=2',
        'user-agent': 'test/1',
      },
    );
    const span = await server1();
    expect(traceId(span)).toBe(TRACE);
    expect(span.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: PARENT, isRemote: true });
    expect(span.spanContext().traceState?.serialize()).toBe('vendor=a:1,other=2');
    expect(new Set(spans.all.map(traceId))).toEqual(new Set([TRACE]));
    expect(span.name).toBe('POST /{application}/predict');
    expect(span.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/{application}/predict',
      'http.response.status_code': 200,
      'url.path': '/app/predict',
      'url.query': 'verbose=1',
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
      'server.port': server.queryAddress.port,
      'user_agent.original': 'test/1',
    });
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
    // A response has no such header in the recommendation.
    expect(response.headers.has('traceparent')).toBe(false);
  });

  it.each([
    'nonsense',
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `${TRACEPARENT}-more`,
    `${TRACEPARENT}, ${TRACEPARENT}`,
    '',
  ])('start a trace of their own when the header is malformed: %s', async (traceparent) => {
    expect((await post('/app/predict', { input: [2] }, { traceparent })).status).toBe(200);
    const span = await server1();
    expect(span.parentSpanContext).toBeUndefined();
    expect(traceId(span)).not.toBe(TRACE);
    expect(traceId(span)).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
  });

  it('go on in the trace of a client that speaks a later version of the header', async () => {
    await post('/app/predict', { input: [2] }, { traceparent: `01-${TRACE}-${PARENT}-01-later` });
    expect(traceId(await server1())).toBe(TRACE);
  });

  it('are not traced when the client does not sample', async () => {
    await post('/app/predict', { input: [3] }, { traceparent: `00-${TRACE}-${PARENT}-00` });
    await post('/app/predict', { input: [3] });
    const span = await server1();
    expect(traceId(span)).not.toBe(TRACE);
    expect(spans.named('query ')).toHaveLength(1);
  });

  it('with many inputs have one span, and one for each query below it', async () => {
    await post('/app/predict', { input_batch: [[1], [2, 3], ['no']] });
    const span = await server1();
    const queries = spans.named('query app');
    expect(queries).toHaveLength(2);
    for (const query of queries) expect(query.parentSpanContext?.spanId).toBe(spanId(span));
  });

  it('that are wrong are no error of the server; those that fail inside it are', async () => {
    await post('/app/predict', { input: 'text' });
    const wrong = await server1();
    expect(wrong.attributes).toMatchObject({
      'http.response.status_code': 400,
      'windjammer.error.code': 'wrong_type',
    });
    expect(wrong.status.code).toBe(SpanStatusCode.UNSET);
    spans.clear();
    await post('/idle/predict', { input: [1], strict: true });
    const failed = await server1();
    expect(failed.status.code).toBe(SpanStatusCode.ERROR);
    expect(failed.attributes).toMatchObject({
      'http.response.status_code': 503,
      'error.type': 'default_unavailable',
    });
    spans.clear();
    await post('/nobody/predict', { input: [1] });
    expect((await server1()).attributes).toMatchObject({ 'windjammer.error.code': 'unknown_application' });
  });

  it('whose client goes end with it', async () => {
    const socket = connect(server.queryAddress.port, '127.0.0.1');
    socket.write(
      'POST /app/predict HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{',
    );
    await vi.waitFor(() => expect(spans.started).toBe(1));
    socket.resetAndDestroy();
    expect((await server1()).attributes).toMatchObject({ 'error.type': 'client_gone' });
  });

  it('with feedback evaluate its input below the span of the request', async () => {
    await post('/app/update', { input: [77], label: '7' });
    const span = await server1();
    expect(span.name).toBe('POST /{application}/update');
    expect(spans.one('evaluate m').parentSpanContext?.spanId).toBe(spanId(span));
  });

  it('of the Open Inference Protocol too: of models by name, and of applications', async () => {
    const inputs = [{ name: 'input', datatype: 'FP64', shape: [2, 1], data: [5, 6] }];
    const response = await post('/v2/models/m/versions/1/infer', { inputs }, { traceparent: TRACEPARENT });
    expect(response.status).toBe(200);
    const span = await server1();
    expect(span.name).toBe('POST /v2/models/{model}/versions/{version}/infer');
    expect(traceId(span)).toBe(TRACE);
    const rows = spans.named('evaluate m');
    expect(rows.map((row) => row.parentSpanContext?.spanId)).toEqual([spanId(span), spanId(span)]);
    spans.clear();
    await post('/v2/models/app/infer', { inputs });
    expect((await server1()).name).toBe('POST /v2/models/{model}/infer');
    expect(spans.named('query app')).toHaveLength(2);
  });

  it('as messages of a WebSocket are in the trace that each message names', async () => {
    const webSocket = new WebSocket(`${url.replace('http', 'ws')}/ws`);
    await once(webSocket, 'open');
    webSocket.send(
      JSON.stringify({ type: 'predict', id: 1, application: 'app', input: [8], traceparent: TRACEPARENT }),
    );
    await once(webSocket, 'message');
    const predict = await server1();
    expect(predict.name).toBe('predict message');
    expect(predict.attributes['network.protocol.name']).toBe('websocket');
    expect([traceId(predict), predict.parentSpanContext?.spanId]).toEqual([TRACE, PARENT]);
    expect(spans.one('query app').parentSpanContext?.spanId).toBe(spanId(predict));
    spans.clear();
    webSocket.send(JSON.stringify({ type: 'feedback', id: 2, application: 'app', input: [8], label: '7' }));
    await once(webSocket, 'message');
    expect((await server1()).name).toBe('feedback message');
    webSocket.close();
  });
});
