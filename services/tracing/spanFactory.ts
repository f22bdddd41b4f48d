import { ROOT_CONTEXT, trace, type Context, type Link, type Span, type Tracer } from '@opentelemetry/api';
import type { SpanKind } from '@opentelemetry/api';
import { SpanClock } from './spanClock.js';

export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** Starts the spans of a frontend. */
export class SpanFactory {
  private readonly clock = new SpanClock();

  constructor(private readonly tracer: Tracer) {}

  nowMs(): number {
    return this.clock.nowMs();
  }

  /** A span under another one, or under what a request's headers say. */
  start(
    name: string,
    kind: SpanKind,
    parent: Span | Context,
    attributes: SpanAttributes,
    startTime: number = this.nowMs(),
    links?: Link[],
  ): Span {
    const context = 'spanContext' in parent ? trace.setSpan(ROOT_CONTEXT, parent) : parent;
    const options = { kind, attributes: { ...attributes } as SpanOptionAttributes, startTime };
    return this.tracer.startSpan(name, links === undefined ? options : { ...options, links }, context);
  }
}

type SpanOptionAttributes = Record<string, string | number | boolean | string[]>;
