import { defaultTextMapGetter, ROOT_CONTEXT, type Context, type Span } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';

const PROPAGATOR = new W3CTraceContextPropagator();

/** The context that a request's headers (or a message's fields) name; the root when there is none or it is malformed. */
export function contextOf(carrier: Readonly<Record<string, unknown>>): Context {
  return carrier.traceparent === undefined
    ? ROOT_CONTEXT
    : PROPAGATOR.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter);
}

/** The W3C header that makes a span the parent of what is asked next. */
export function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
