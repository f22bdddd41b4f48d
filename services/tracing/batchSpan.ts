import { SpanStatusCode, type Span } from '@opentelemetry/api';
import type { BatchRecord, BatchTrace, WaiterTrace } from '../prediction/index.js';
import { ModelSpan } from './modelSpan.js';
import type { SpanFactory } from './spanFactory.js';
import { traceparentOf } from './traceContext.js';

/** One batch, from its sending to its results; linked to every traced request that has an item in it. */
export class BatchSpan implements BatchTrace {
  readonly traceparent: string;

  constructor(
    private readonly spans: SpanFactory,
    private readonly span: Span,
    private readonly size: number,
  ) {
    this.traceparent = traceparentOf(span);
  }

  onJoin(trace: WaiterTrace): void {
    if (!(trace instanceof ModelSpan)) return;
    this.span.addLink({ context: trace.span.spanContext() });
    trace.onBatch(this.span, 'joined', this.size);
  }

  onEnd({ limit, longestQueueNs, totalQueueNs, serviceNs, failed, failure }: BatchRecord): void {
    this.span.setAttributes({
      'windjammer.batch.limit': limit,
      'windjammer.batch.longest_queue_seconds': longestQueueNs / 1e9,
      'windjammer.batch.total_queue_seconds': totalQueueNs / 1e9,
      'windjammer.batch.service_seconds': serviceNs / 1e9,
      'windjammer.batch.failed': failed,
    });
    if (failed > 0) {
      this.span.setAttribute('error.type', 'model_error');
      this.span.setStatus(
        failure === undefined
          ? { code: SpanStatusCode.ERROR }
          : { code: SpanStatusCode.ERROR, message: failure },
      );
    }
    this.span.end(this.spans.nowMs());
  }

  onLost(reason: string): void {
    this.span.setAttribute('error.type', 'replica_lost');
    this.span.setStatus({ code: SpanStatusCode.ERROR, message: reason });
    this.span.end(this.spans.nowMs());
  }
}
