import type { IncomingMessage, ServerResponse } from 'node:http';
import { asServiceError, ServiceError, type ErrorCode } from '../../errors/index.js';
import { sendBytes, sendJson } from '../../http/index.js';
import type {
  Answer,
  AnswerSink,
  DefaultReason,
  ModelCall,
  ModelCallSink,
  ModelRequest,
  ModelVote,
  PredictionService,
  Query,
  QueryRefusal,
} from '../../prediction/index.js';
import { DEFAULT_EXPLANATIONS, STRICT_ERRORS } from '../answers.js';
import type { FrontendObserver } from '../observer.js';
import type { RequestTrace, RequestTracing } from '../requestTracing.js';
import { validTraceparent } from '../traceparent.js';
import { JSON_LENGTH_HEADER, type BinaryPart } from './binaryData.js';
import { inferAnswer, type InferAnswer, type RowAnswer } from './inferAnswer.js';
import { OCTET_STREAM, type InferenceBodyReceiver } from './inferenceBody.js';
import { sendInferenceError } from './inferenceErrors.js';
import { readInferRequest, type InferRequest } from './inferRequest.js';
import type { InferenceStatistics } from './inferenceStatistics.js';
import type { ApplicationServable, ModelServable, Servable } from './servables.js';

/** What every inference of a frontend shares. */
export interface InferenceContext {
  readonly service: PredictionService;
  readonly observer: FrontendObserver;
  readonly statistics: InferenceStatistics;
  readonly tracing?: RequestTracing | undefined;
  nextQueryId(): string;
  /** A defect: logged, never shown to the client. */
  onDefect(error: ServiceError, traceparent?: string): void;
}

/** How long a model may take when the request has no `timeout`: a model, unlike an application, has no objective. */
export const DEFAULT_MODEL_TIMEOUT_US = 30_000_000;

/** One inference request, from its body to its answer. All rows are answered, or the request fails as a whole. */
export class InferExchange implements InferenceBodyReceiver {
  private rows: (RowAnswer | undefined)[] = [];
  private open = 0;
  private hits = 0;
  private misses = 0;
  private ended = false;
  private readonly startedMs = performance.now();
  private inference: InferRequest | undefined;
  private readonly calls: ModelCall[] = [];
  private readonly queryIds: string[] = [];

  constructor(
    private readonly context: InferenceContext,
    private readonly servable: Servable,
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly trace: RequestTrace | undefined,
  ) {}

  onBody(json: unknown, binary: BinaryPart): void {
    try {
      this.start(readInferRequest(json, binary, this.servable));
    } catch (thrown) {
      this.onBodyError(asServiceError(thrown));
    }
  }

  onBodyError(error: ServiceError): void {
    if (error.code === 'internal') this.context.onDefect(error, this.traceparent);
    this.fail(error.code, error.message);
  }

  /** A row's answer. */
  settle(row: number, answer: RowAnswer, cached: boolean): void {
    if (this.ended) return;
    this.rows[row] = answer;
    if (cached) this.hits += 1;
    else this.misses += 1;
    this.open -= 1;
    if (this.open === 0) this.finish();
  }

  /** A row without an answer ends the request. */
  miss(row: number, reason: DefaultReason): void {
    const where = this.rows.length === 1 ? '' : `row ${row}: `;
    this.fail(STRICT_ERRORS[reason], where + DEFAULT_EXPLANATIONS[reason]);
  }

  fail(code: ErrorCode, message: string): void {
    if (this.ended) return;
    this.ended = true;
    this.withdraw();
    this.count(false);
    const { servable, context } = this;
    this.trace?.onRefused(code);
    context.observer.onRefused(servable.kind === 'application' ? servable.record.name : undefined, code);
    const headers = code === 'shutting_down' ? ['connection', 'close'] : undefined;
    sendInferenceError(this.response, code, message, headers);
  }

  private get traceparent(): string | undefined {
    return this.trace === undefined
      ? validTraceparent(this.request.headers.traceparent)
      : this.trace.traceparent;
  }

  private start(inference: InferRequest): void {
    const { servable, response } = this;
    this.inference = inference;
    this.open = inference.rows.length;
    this.rows = new Array<RowAnswer | undefined>(this.open);
    if (servable.kind === 'model') this.askModel(servable, inference);
    else this.askApplication(servable, inference);
    if (this.ended) return;
    response.on('close', () => {
      if (this.ended) return;
      this.ended = true;
      this.withdraw();
    });
  }

  private askModel({ record }: ModelServable, { rows, timeoutUs }: InferRequest): void {
    const budgetNs = (timeoutUs ?? DEFAULT_MODEL_TIMEOUT_US) * 1000;
    const { traceparent, trace } = this;
    const { name: model, version } = record;
    for (const [row, input] of rows.entries()) {
      if (this.ended) return;
      const sink = new RowSink(this, row);
      const request = { model, version, input, budgetNs, traceparent, trace };
      const call = this.context.service.evaluate(request, sink);
      if (call !== undefined) this.calls.push(call);
    }
  }

  private askApplication({ record, version }: ApplicationServable, { rows, timeoutUs }: InferRequest): void {
    const budgetNs =
      timeoutUs === undefined ? undefined : Math.min(timeoutUs, record.latencyObjectiveUs) * 1000;
    const { traceparent, trace } = this;
    const { name: application } = record;
    for (const [row, input] of rows.entries()) {
      if (this.ended) return;
      const id = this.context.nextQueryId();
      this.queryIds.push(id);
      const query = {
        id,
        application,
        input,
        context: '',
        version,
        budgetNs,
        traceparent,
        trace: trace?.query(id, application),
      };
      this.context.service.predict(query, new RowSink(this, row));
    }
  }

  private finish(): void {
    const { inference, servable } = this;
    if (inference === undefined) return;
    let answer: InferAnswer;
    try {
      answer = inferAnswer(servable, inference, this.rows as readonly RowAnswer[]);
    } catch (cause) {
      const message = `the answer of '${servable.name}' could not be written`;
      this.context.onDefect(new ServiceError('internal', message, undefined, { cause }));
      this.fail('default_model_error', 'the model answered something else than it declares');
      return;
    }
    this.ended = true;
    this.count(true);
    const { json, binary } = answer;
    if (binary.length === 0) {
      sendJson(this.response, 200, json);
      return;
    }
    const head = Buffer.from(json);
    const headers = [JSON_LENGTH_HEADER, String(head.length)];
    sendBytes(this.response, 200, OCTET_STREAM, Buffer.concat([head, ...binary]), headers);
  }

  private count(ok: boolean): void {
    const { servable } = this;
    if (servable.kind !== 'model') return;
    const { name, version } = servable.record;
    const ns = (performance.now() - this.startedMs) * 1e6;
    this.context.statistics.onRequest(name, version, ok, ns, this.hits, this.misses);
  }

  /** Rows that nobody waits for any more. Those that are answered are left as they are. */
  private withdraw(): void {
    for (const call of this.calls) call.cancel();
    for (const id of this.queryIds) this.context.service.cancel(id);
  }
}

/** Takes the answer of one row. */
class RowSink implements ModelCallSink, AnswerSink {
  constructor(
    private readonly exchange: InferExchange,
    private readonly row: number,
  ) {}

  onVote(_request: ModelRequest, { output, scores, missing, cached }: ModelVote): void {
    if (output === undefined) this.exchange.miss(this.row, missing ?? 'model_error');
    else this.exchange.settle(this.row, { output, scores }, cached);
  }

  onModelRefusal(_request: ModelRequest, refusal: QueryRefusal): void {
    this.exchange.fail(refusal.code, refusal.message);
  }

  onAnswer(_query: Query, answer: Answer): void {
    const { isDefault, defaultReason, output, confidence, cached } = answer;
    if (isDefault) this.exchange.miss(this.row, defaultReason ?? 'model_error');
    else this.exchange.settle(this.row, { output, confidence }, cached);
  }

  onRefusal(_query: Query, refusal: QueryRefusal): void {
    this.exchange.fail(refusal.code, refusal.message);
  }
}
