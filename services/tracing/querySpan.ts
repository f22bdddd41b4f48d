import { SpanKind, SpanStatusCode, type Span } from '@opentelemetry/api';
import type { Answer, QueryRefusal, QueryTrace } from '../prediction/index.js';
import { ScopeSpan } from './modelSpan.js';
import type { SpanFactory } from './spanFactory.js';

/** One query, from its acceptance to its answer. */
export class QuerySpan extends ScopeSpan implements QueryTrace {
  private readonly startedMs: number;

  /** @param onEnded when the request has no other end. */
  constructor(
    spans: SpanFactory,
    parent: Span,
    id: string,
    application: string,
    private readonly onEnded: (() => void) | undefined,
  ) {
    const startedMs = spans.nowMs();
    super(
      spans,
      spans.start(
        `query ${application}`,
        SpanKind.INTERNAL,
        parent,
        { 'windjammer.application': application, 'windjammer.query.id': id },
        startedMs,
      ),
    );
    this.startedMs = startedMs;
  }

  get traceId(): string {
    return this.span.spanContext().traceId;
  }

  onSelected(policy: string, arms: readonly string[]): void {
    const attributes = { 'windjammer.policy': policy, 'windjammer.arms': arms };
    this.spans
      .start(`select ${policy}`, SpanKind.INTERNAL, this.span, attributes, this.startedMs)
      .end(this.spans.nowMs());
  }

  onAnswer({ isDefault, defaultReason, confidence, cached }: Answer): void {
    this.span.setAttribute('windjammer.cached', cached);
    this.span.setAttribute('windjammer.confidence', confidence);
    if (isDefault && defaultReason !== undefined) {
      this.span.setAttribute('windjammer.default.reason', defaultReason);
    }
    this.end(isDefault ? 'default' : 'predicted');
  }

  onRefusal({ code, message }: QueryRefusal): void {
    this.span.setAttribute('error.type', code);
    this.span.setStatus({ code: SpanStatusCode.ERROR, message });
    this.end('rejected');
  }

  onCancel(): void {
    this.end('cancelled');
  }

  private end(outcome: string): void {
    this.span.setAttribute('windjammer.outcome', outcome);
    this.span.end(this.spans.nowMs());
    this.onEnded?.();
  }
}
