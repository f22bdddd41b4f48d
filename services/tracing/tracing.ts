import { ROOT_CONTEXT, SpanKind, type Context, type Link, type TracerProvider } from '@opentelemetry/api';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestTrace, RequestTracing } from '../frontend/index.js';
import type { BatchTrace, TracedItem, WaiterTrace } from '../prediction/index.js';
import { BatchSpan } from './batchSpan.js';
import { ModelSpan } from './modelSpan.js';
import { httpAttributes, RequestSpan } from './requestSpan.js';
import { SpanFactory, type SpanAttributes } from './spanFactory.js';
import { contextOf } from './traceContext.js';

/**
 * Spans of what happens to requests. What the sampler does not record gets no trace at all, and costs the query path
 * nothing further.
 */
export class Tracing implements RequestTracing {
  private readonly spans: SpanFactory;
  /** Collected anew for every batch. */
  private readonly waiting: WaiterTrace[] = [];

  /** @param shutDown hands over what has ended and is not exported yet. */
  constructor(
    provider: TracerProvider,
    private readonly shutDown: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.spans = new SpanFactory(provider.getTracer('windjammer'));
  }

  onHttpRequest(request: IncomingMessage, response: ServerResponse, route: string): RequestTrace | undefined {
    const { method = '' } = request;
    const known = { 'http.request.method': method, 'http.route': route };
    const trace = this.request(`${method} ${route}`, contextOf(request.headers), known, false);
    if (trace === undefined) return undefined;
    // Samplers know method and route; the rest costs only what is sampled.
    trace.span.setAttributes(httpAttributes(request));
    response.once('close', () => trace.onResponseClosed(response));
    return trace;
  }

  onMessage(type: 'predict' | 'feedback', traceparent: string | undefined): RequestTrace | undefined {
    const context = traceparent === undefined ? ROOT_CONTEXT : contextOf({ traceparent });
    return this.request(
      `${type} message`,
      context,
      { 'network.protocol.name': 'websocket', 'http.route': '/ws', 'windjammer.message.type': type },
      true,
    );
  }

  /** A batch leaves for its container. undefined: none of its items is traced. */
  onBatchSent(
    model: string,
    version: string,
    replica: string,
    items: readonly TracedItem[],
  ): BatchTrace | undefined {
    const { waiting } = this;
    waiting.length = 0;
    for (const item of items) item.collectTraces(waiting);
    if (waiting.length === 0) return undefined;
    const members = waiting.filter((trace) => trace instanceof ModelSpan);
    waiting.length = 0;
    const [first] = members;
    const links: Link[] = members.map(({ span }) => ({ context: span.spanContext() }));
    const size = items.length;
    const attributes = {
      'windjammer.model.name': model,
      'windjammer.model.version': version,
      'windjammer.replica': replica,
      'windjammer.batch.size': size,
    };
    // A child of the most urgent one, so that it is in a trace that is sampled; linked to all of them.
    const span = this.spans.start(
      `batch ${model}`,
      SpanKind.CLIENT,
      first.span,
      attributes,
      undefined,
      links,
    );
    for (const member of members) member.onBatch(span, 'sent', size);
    return new BatchSpan(this.spans, span, size);
  }

  /** Exports what is left. Never rejects. */
  async close(): Promise<void> {
    await this.shutDown();
  }

  private request(
    name: string,
    parent: Context,
    attributes: SpanAttributes,
    isMessage: boolean,
  ): RequestSpan | undefined {
    const span = this.spans.start(name, SpanKind.SERVER, parent, attributes);
    return span.isRecording() ? new RequestSpan(this.spans, span, isMessage) : undefined;
  }
}
