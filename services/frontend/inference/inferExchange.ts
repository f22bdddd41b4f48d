import type { IncomingMessage, ServerResponse } from 'node:http';
import { asServiceError, ServiceError, type ErrorCode } from '../../errors/index.js';
import { sendBytes, sendJson } from '../../http/index.js';
import { eachInTurns, TURNS } from '../../json/index.js';
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
import { retryAfterHeader, strictRefusal } from '../answers.js';
import type { FrontendObserver } from '../observer.js';
import { queryBudgetNs, readQueryHeaders, type QueryHeaders } from '../queryHeaders.js';
import type { RequestTrace, RequestTracing } from '../requestTracing.js';
import { validTraceparent } from '../traceparent.js';
import { JSON_LENGTH_HEADER, type BinaryPart } from './binaryData.js';
import { inferAnswer, type InferAnswer, type RowAnswer } from './inferAnswer.js';
import { OCTET_STREAM, type InferenceBodyReceiver } from './inferenceBody.js';
import { sendInferenceError } from './inferenceErrors.js';
import { readInferRequest, type InferRequest } from './inferRequest.js';
import type { InferenceStatistics, ModelTally } from './inferenceStatistics.js';
import type { InputRows } from './tensorRows.js';
import type { ApplicationServable, ModelServable, Servable } from './servables.js';

/** What every inference of a frontend shares. */
export interface InferenceContext {
  readonly service: PredictionService;
  readonly observer: FrontendObserver;
  readonly statistics: InferenceStatistics;
  /** Rows that an input may have. */
  readonly maxBatchInputs: number;
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
  private ended = false;
  private readonly startedMs = performance.now();
  private inference: InferRequest | undefined;
  private readonly headers: QueryHeaders | ServiceError;
  /** Where it is counted; of a model only. */
  private readonly tally: ModelTally | undefined;
  private readonly calls: ModelCall[] = [];
  private readonly queryIds: string[] = [];

  constructor(
    private readonly context: InferenceContext,
    private readonly servable: Servable,
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly trace: RequestTrace | undefined,
    private readonly source: object,
  ) {
    this.headers = readQueryHeaders(request.headers);
    if (servable.kind === 'model') {
      this.tally = context.statistics.of(servable.record.name, servable.record.version);
    }
  }

  onBody(json: unknown, binary: BinaryPart): void {
    const { headers } = this;
    if (headers instanceof ServiceError) {
      this.onBodyError(headers);
      return;
    }
    try {
      this.start(readInferRequest(json, binary, this.servable, this.context.maxBatchInputs), headers);
    } catch (thrown) {
      this.onBodyError(asServiceError(thrown, this.queryIds[0]));
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
    this.open -= 1;
    if (this.open === 0) this.finish();
  }

  /** A row without an answer ends the request. */
  miss(row: number, reason: DefaultReason, retryAfterNs: number | undefined): void {
    const where = this.rows.length === 1 ? '' : `row ${row}: `;
    const { code, message, retryAfterMs } = strictRefusal({ retryAfterNs }, reason);
    this.fail(code, where + message, retryAfterMs === undefined ? undefined : retryAfterHeader(retryAfterMs));
  }

  fail(code: ErrorCode, message: string, more?: readonly string[]): void {
    if (this.ended) return;
    this.end(false);
    this.withdraw();
    const { servable, context } = this;
    this.trace?.onRefused(code);
    context.observer.onRefused(servable.kind === 'application' ? servable.record.name : undefined, code);
    const headers = code === 'shutting_down' ? ['connection', 'close'] : more;
    sendInferenceError(this.response, code, message, headers);
  }

  private get traceparent(): string | undefined {
    return this.trace === undefined
      ? validTraceparent(this.request.headers.traceparent)
      : this.trace.traceparent;
  }

  private start(inference: InferRequest, headers: QueryHeaders): void {
    const { servable, response } = this;
    this.inference = inference;
    this.open = inference.rows.count;
    this.rows = new Array<RowAnswer | undefined>(this.open);
    if (servable.kind === 'model') this.askModel(servable, inference, headers);
    else this.askApplication(servable, inference, headers);
    if (this.ended) return;
    response.on('close', () => {
      if (this.ended) return;
      this.end(false);
      this.withdraw();
    });
  }

  private askModel({ record }: ModelServable, inference: InferRequest, headers: QueryHeaders): void {
    const { rows, timeoutUs = DEFAULT_MODEL_TIMEOUT_US, priority = headers.priority } = inference;
    const budgetNs = queryBudgetNs(timeoutUs, timeoutUs, headers.dueMs) ?? timeoutUs * 1000;
    const { launchClass } = headers;
    const { traceparent, trace, source } = this;
    const { name: model, version } = record;
    this.askEach(rows, (input, row) => {
      const startedMs = performance.now();
      const sink = new RowSink(this, row);
      const request = { model, version, input, budgetNs, priority, launchClass, traceparent, source, trace };
      const { hits } = this;
      const call = this.context.service.evaluate(request, sink);
      if (call === undefined) return;
      this.calls.push(call);
      // What the cache has, it gives at once.
      this.tally?.onLookup(this.hits > hits, (performance.now() - startedMs) * 1e6);
    });
  }

  /** Many rows are asked in turns between which others are served. */
  private askEach(rows: InputRows, ask: (input: Uint8Array, row: number) => void): void {
    eachInTurns({
      count: rows.count,
      bytes: rows.bytes,
      each: (row) => {
        try {
          ask(rows.row(row), row);
        } catch (thrown) {
          this.onBodyError(asServiceError(thrown, this.queryIds[0]));
        }
      },
      isGone: () => this.ended,
    });
  }

  private askApplication(
    { record, version }: ApplicationServable,
    inference: InferRequest,
    headers: QueryHeaders,
  ): void {
    const { rows, timeoutUs, features, priority = headers.priority } = inference;
    const budgetNs = queryBudgetNs(record.latencyObjectiveUs, timeoutUs, headers.dueMs);
    const { launchClass } = headers;
    const { traceparent, trace, source } = this;
    const { name: application } = record;
    this.askEach(rows, (input, row) => {
      const id = this.context.nextQueryId();
      this.queryIds.push(id);
      const query = {
        id,
        application,
        input,
        context: '',
        features,
        version,
        budgetNs,
        priority,
        launchClass,
        traceparent,
        source,
        trace: trace?.query(id, application),
      };
      this.context.service.predict(query, new RowSink(this, row));
    });
  }

  private finish(): void {
    const { inference, servable } = this;
    if (inference === undefined) return;
    const slices = inferAnswer(servable, inference, this.rows as readonly RowAnswer[]);
    TURNS.run({
      remaining: this.rows.length,
      step: () => this.ended || this.writeSlice(slices),
    });
  }

  /** @returns whether it was the last one */
  private writeSlice(slices: Generator<undefined, InferAnswer>): boolean {
    let slice: IteratorResult<undefined, InferAnswer>;
    try {
      slice = slices.next();
    } catch (cause) {
      const message = `the answer of '${this.servable.name}' could not be written`;
      const request = this.queryIds[0];
      this.context.onDefect(
        new ServiceError('internal', message, undefined, { cause, request }),
        this.traceparent,
      );
      this.fail('default_model_error', 'the model answered something else than it declares');
      return true;
    }
    if (slice.done !== true) return false;
    this.send(slice.value);
    return true;
  }

  private send({ json, binary }: InferAnswer): void {
    this.end(true);
    if (binary.length === 0) {
      sendJson(this.response, 200, json);
      return;
    }
    const head = Buffer.from(json);
    const headers = [JSON_LENGTH_HEADER, String(head.length)];
    sendBytes(this.response, 200, OCTET_STREAM, [head, ...binary], headers);
  }

  private end(ok: boolean): void {
    this.ended = true;
    this.tally?.onRequest(ok, (performance.now() - this.startedMs) * 1e6);
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

  onVote(_request: ModelRequest, vote: ModelVote): void {
    const { output, scores, missing, cached, retryAfterNs } = vote;
    if (output === undefined) this.exchange.miss(this.row, missing ?? 'model_error', retryAfterNs);
    else this.exchange.settle(this.row, { output, scores }, cached);
  }

  onModelRefusal(_request: ModelRequest, refusal: QueryRefusal): void {
    this.exchange.fail(refusal.code, refusal.message);
  }

  onAnswer(_query: Query, answer: Answer): void {
    const { isDefault, defaultReason, output, confidence, cached, retryAfterNs } = answer;
    if (isDefault) this.exchange.miss(this.row, defaultReason ?? 'model_error', retryAfterNs);
    else this.exchange.settle(this.row, { output, confidence }, cached);
  }

  onRefusal(_query: Query, refusal: QueryRefusal): void {
    this.exchange.fail(refusal.code, refusal.message);
  }
}
