import { SpanKind, SpanStatusCode, type Span } from '@opentelemetry/api';
import type { Lookup, PredictionFailure, TraceScope, WaiterTrace } from '../prediction/index.js';
import type { SpanFactory } from './spanFactory.js';

/** One model asked for one request: from the lookup in the cache to its prediction. */
export class ModelSpan implements WaiterTrace {
  constructor(
    private readonly spans: SpanFactory,
    readonly span: Span,
  ) {}

  onPrediction(): void {
    this.end('predicted');
  }

  onFailure({ reason, message }: PredictionFailure): void {
    this.span.setStatus({ code: SpanStatusCode.ERROR, message });
    this.span.setAttribute('error.type', reason);
    this.end(reason);
  }

  onLeft(reason: 'deadline' | 'cancelled' | 'passed'): void {
    this.end(reason);
  }

  /** It left in a batch, or joins one that is on its way. */
  onBatch(batch: Span, event: 'sent' | 'joined', size: number): void {
    this.span.addEvent(event, { 'windjammer.batch.size': size }, this.spans.nowMs());
    this.span.addLink({ context: batch.spanContext() });
  }

  private end(outcome: string): void {
    this.span.setAttribute('windjammer.outcome', outcome);
    this.span.end(this.spans.nowMs());
  }
}

/** Whatever asks models: each gets a span under this one. */
export class ScopeSpan implements TraceScope {
  constructor(
    protected readonly spans: SpanFactory,
    readonly span: Span,
  ) {}

  onAsked(model: string, version: string, lookup: Lookup): WaiterTrace {
    const span = this.spans.start(`evaluate ${model}`, SpanKind.INTERNAL, this.span, {
      'windjammer.model.name': model,
      'windjammer.model.version': version,
      'windjammer.cache.lookup': lookup,
    });
    return new ModelSpan(this.spans, span);
  }
}
