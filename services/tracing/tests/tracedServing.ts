import type { SpanKind } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
  type Sampler,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { Tracing } from '../tracing.js';

/** The real SDK, whose spans stay in memory. */
export class RecordedSpans {
  readonly tracing: Tracing;
  /** Spans that were begun. */
  started = 0;
  private readonly exporter = new InMemorySpanExporter();

  constructor(sampler?: Sampler) {
    const counter: SpanProcessor = {
      onStart: () => (this.started += 1),
      onEnd: () => undefined,
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    };
    const provider = new BasicTracerProvider({
      spanProcessors: [counter, new SimpleSpanProcessor(this.exporter)],
      ...(sampler === undefined ? {} : { sampler }),
    });
    this.tracing = new Tracing(provider, () => provider.shutdown());
  }

  get all(): readonly ReadableSpan[] {
    return this.exporter.getFinishedSpans();
  }

  clear(): void {
    this.started = 0;
    this.exporter.reset();
  }

  ofKind(kind: SpanKind): readonly ReadableSpan[] {
    return this.all.filter((span) => span.kind === kind);
  }

  /** Whose names start so. */
  named(name: string): readonly ReadableSpan[] {
    return this.all.filter((span) => span.name.startsWith(name));
  }

  one(name: string): ReadableSpan {
    const found = this.named(name);
    if (found.length !== 1) throw new Error(`${found.length} spans are named ${name}`);
    return found[0];
  }
}

export function spanId(span: ReadableSpan): string {
  return span.spanContext().spanId;
}

export function traceId(span: ReadableSpan): string {
  return span.spanContext().traceId;
}

/** Of the spans that a span is linked to. */
export function linkedIds(span: ReadableSpan): readonly string[] {
  return span.links.map(({ context }) => context.spanId);
}
