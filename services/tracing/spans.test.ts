import { SpanStatusCode } from '@opentelemetry/api';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-base';
import { describe, expect, it } from 'vitest';
import type { PredictionObserver } from '../prediction/index.js';
import { inputOf, Serving, TestContainer } from '../prediction/tests/serving.js';
import { Telemetry } from '../telemetry/index.js';
import { linkedIds, RecordedSpans, spanId, traceId } from './tests/tracedServing.js';

const MS = 1e6;
const SAMPLED = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;

/** An engine whose queries come as messages, each in the trace that it names. */
class TracedServing {
  readonly serving: Serving;
  readonly complaints: { message: string; details: Readonly<Record<string, unknown>> }[] = [];

  constructor(readonly spans = new RecordedSpans()) {
    const options: { observer?: PredictionObserver } = {};
    this.serving = new Serving(options);
    const { registry } = this.serving;
    options.observer = new Telemetry(
      registry,
      (message, details) => this.complaints.push({ message, details }),
      spans.tracing,
    );
  }

  predict(value: number, traceparent?: string): string {
    const trace = this.spans.tracing.onMessage('predict', traceparent);
    const id = `q${value} ${traceparent}`;
    return this.serving.predict(value, {
      id,
      ...(trace === undefined ? {} : { traceparent: trace.traceparent, trace: trace.query(id, 'app') }),
    });
  }
}

describe('the spans of a query', () => {
  it('lie inside each other: request, query, selection, model, batch', () => {
    const traced = new TracedServing();
    const { serving, spans } = traced;
    serving.simple();
    const container = serving.container({ serviceNs: () => 2 * MS });
    traced.predict(1, SAMPLED('a'));
    serving.run();
    const [request, query, select, model, batch] = [
      'predict message',
      'query app',
      'select static',
      'evaluate m',
      'batch m',
    ].map((name) => spans.one(name));
    expect(new Set(spans.all.map(traceId))).toEqual(new Set(['a'.repeat(32)]));
    expect(request.parentSpanContext).toMatchObject({ spanId: 'a'.repeat(16), isRemote: true });
    expect(query.parentSpanContext?.spanId).toBe(spanId(request));
    expect(select.parentSpanContext?.spanId).toBe(spanId(query));
    expect(model.parentSpanContext?.spanId).toBe(spanId(query));
    expect(batch.parentSpanContext?.spanId).toBe(spanId(model));
    expect(query.attributes).toMatchObject({
      'windjammer.application': 'app',
      'windjammer.outcome': 'predicted',
      'windjammer.cached': false,
    });
    expect(select.attributes).toEqual({ 'windjammer.policy': 'static', 'windjammer.arms': ['m'] });
    expect(model.attributes).toEqual({
      'windjammer.model.name': 'm',
      'windjammer.model.version': '1',
      'windjammer.cache.lookup': 'miss',
      'windjammer.outcome': 'predicted',
    });
    expect(model.events.map(({ name }) => name)).toEqual(['sent']);
    expect(linkedIds(model)).toEqual([spanId(batch)]);
    expect(batch.attributes).toMatchObject({
      'windjammer.replica': 'r0',
      'windjammer.batch.size': 1,
      'windjammer.batch.service_seconds': 0.002,
      'windjammer.batch.failed': 0,
    });
    expect(container.frames[0].traceparent).toBe(`00-${'a'.repeat(32)}-${spanId(batch)}-01`);
  });

  it('of an ensemble are one for each sub-model, a straggler among them', () => {
    const traced = new TracedServing();
    const { serving, spans } = traced;
    serving.registry.addApplication('app', 'majority').link('app', 'a', 'b', 'slow');
    for (const model of ['a', 'b', 'slow']) {
      serving.registry.addModel(model);
      serving.container({ model, serviceNs: () => (model === 'slow' ? 50 : 1) * MS });
    }
    traced.predict(1);
    serving.run();
    const models = spans.named('evaluate ');
    expect(models.map(({ name, attributes }) => [name, attributes['windjammer.outcome']])).toEqual([
      ['evaluate a', 'predicted'],
      ['evaluate b', 'predicted'],
      ['evaluate slow', 'deadline'],
    ]);
    const query = spans.one('query app');
    for (const model of models) expect(model.parentSpanContext?.spanId).toBe(spanId(query));
    expect(spans.named('batch ').map(({ name }) => name)).toEqual(['batch a', 'batch b', 'batch slow']);
  });

  it('tell a hit from a miss, and a joined evaluation is linked to the batch that it rides in', () => {
    const traced = new TracedServing();
    const { serving, spans } = traced;
    serving.simple();
    serving.container({ serviceNs: () => 4 * MS });
    traced.predict(1, SAMPLED('a'));
    traced.predict(1, SAMPLED('b'));
    serving.run(1);
    traced.predict(1, SAMPLED('c'));
    serving.run();
    traced.predict(1, SAMPLED('d'));
    serving.run();
    const models = spans.named('evaluate m');
    const lookups = new Map(
      models.map((span) => [traceId(span)[0], span.attributes['windjammer.cache.lookup']]),
    );
    expect(Object.fromEntries(lookups)).toEqual({ a: 'miss', b: 'join', c: 'join', d: 'hit' });
    const batch = spans.one('batch m');
    const riders = models.filter((span) => traceId(span)[0] !== 'd').map(spanId);
    expect(linkedIds(batch)).toEqual(riders);
    expect(models.map(({ events }) => events.map(({ name }) => name))).toEqual([
      ['sent'],
      ['sent'],
      ['joined'],
      [],
    ]);
  });
});

describe('the span of a batch', () => {
  it('is linked to every request that has an item in it, and leads back from each of them', () => {
    const traced = new TracedServing();
    const { serving, spans } = traced;
    serving.simple({ strategy: 'fixed', maxBatchSize: 64 });
    serving.container();
    for (let value = 0; value < 16; value++) traced.predict(value, SAMPLED('123456789abcdef1'[value]));
    serving.run();
    const batch = spans.one('batch m');
    const models = spans.named('evaluate m');
    expect(models).toHaveLength(16);
    expect([...linkedIds(batch)].sort()).toEqual(models.map(spanId).sort());
    for (const model of models) expect(linkedIds(model)).toEqual([spanId(batch)]);
    expect(batch.attributes['windjammer.batch.size']).toBe(16);
  });

  it('ends with an error when its replica is lost, and the retry elsewhere is another batch of the same request', () => {
    const traced = new TracedServing();
    const { serving, spans } = traced;
    serving.simple();
    const lost = serving.container({ replica: 'r0', manual: true });
    traced.predict(1);
    serving.run(1);
    serving.container({ replica: 'r1' });
    lost.die('killed by its user');
    serving.run();
    const [first, second] = spans.named('batch m');
    expect(first.status).toEqual({ code: SpanStatusCode.ERROR, message: 'killed by its user' });
    expect(second.attributes['windjammer.replica']).toBe('r1');
    const model = spans.one('evaluate m');
    expect(linkedIds(model)).toEqual([spanId(first), spanId(second)]);
    expect(model.attributes['windjammer.outcome']).toBe('predicted');
  });

  it('says what failed; the log line about it names the trace', () => {
    const traced = new TracedServing();
    const { serving, spans } = traced;
    serving.simple();
    serving.container({
      answer: (frame) =>
        frame.items.map(({ id }) => ({ id, ok: false, code: 'modelError', message: 'no 3' })),
    });
    traced.predict(3, SAMPLED('e'));
    serving.run();
    expect(spans.one('batch m').status).toEqual({ code: SpanStatusCode.ERROR, message: 'modelError: no 3' });
    expect(spans.one('evaluate m').attributes).toMatchObject({ 'error.type': 'model_error' });
    expect(spans.one('query app').attributes).toMatchObject({
      'windjammer.outcome': 'default',
      'windjammer.default.reason': 'model_error',
    });
    expect(traced.complaints).toEqual([
      {
        message: 'a model failed on a query',
        details: expect.objectContaining({ reason: 'modelError: no 3', traceId: 'e'.repeat(32) }) as object,
      },
    ]);
  });
});

describe('what ends otherwise', () => {
  it('is told: refused, cancelled, without a replica', () => {
    const traced = new TracedServing();
    const { serving, spans } = traced;
    serving.simple();
    traced.predict(1);
    serving.run();
    serving.container({ manual: true });
    const cancelled = traced.predict(2);
    serving.run(1);
    serving.engine.cancel(cancelled);
    const trace = spans.tracing.onMessage('predict', undefined);
    serving.engine.predict(
      { id: 'x', application: 'app', context: '', input: new Uint8Array(3), trace: trace?.query('x', 'app') },
      serving,
    );
    expect(spans.named('query app').map(({ attributes }) => attributes['windjammer.outcome'])).toEqual([
      'default',
      'cancelled',
      'rejected',
    ]);
    expect(spans.named('evaluate m').map(({ attributes }) => attributes['windjammer.outcome'])).toEqual([
      'no_replica',
      'cancelled',
    ]);
    expect(spans.named('predict message')).toHaveLength(3);
  });

  it('leaves no span open: each ends exactly once, whatever happens to its query', () => {
    const traced = new TracedServing();
    const { serving, spans } = traced;
    serving.simple({ strategy: 'fixed', maxBatchSize: 4 }, 10_000);
    let container = new TestContainer(serving.clock, { model: 'm', serviceNs: () => 3 * MS });
    serving.engine.addReplica(container);
    const ids: string[] = [];
    for (let round = 0; round < 200; round++) {
      ids.push(traced.predict(round % 37));
      if (round % 7 === 0) serving.engine.cancel(ids[Math.floor(round / 2)]);
      if (round % 41 === 40) {
        container.die();
        container = new TestContainer(serving.clock, { model: 'm', serviceNs: () => 3 * MS });
        serving.engine.addReplica(container);
      }
      serving.run(round);
    }
    serving.run();
    expect(spans.named('predict message')).toHaveLength(200);
    expect(spans.named('query app')).toHaveLength(200);
    expect(spans.named('evaluate m')).toHaveLength(200);
    expect(new Set(spans.all.map(spanId)).size).toBe(spans.all.length);
  });
});

describe('what is not sampled', () => {
  it('has no trace, no spans, and hands the client’s context on as it came', () => {
    const traced = new TracedServing(new RecordedSpans(new AlwaysOffSampler()));
    const { serving, spans } = traced;
    serving.simple();
    const container = serving.container();
    expect(spans.tracing.onMessage('predict', SAMPLED('a'))).toBeUndefined();
    serving.predict(inputOf(1), { traceparent: SAMPLED('a') });
    serving.run();
    expect(spans.all).toEqual([]);
    expect(container.frames[0].traceparent).toBe(SAMPLED('a'));
  });

  it('is what the client’s flag says', () => {
    const spans = new RecordedSpans();
    expect(spans.tracing.onMessage('predict', SAMPLED('a').replace(/01$/, '00'))).toBeUndefined();
    expect(spans.tracing.onMessage('predict', SAMPLED('a'))).toBeDefined();
  });
});
