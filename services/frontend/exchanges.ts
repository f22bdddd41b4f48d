import type { IncomingMessage, ServerResponse } from 'node:http';
import type { InputForm } from '../../containers/protocol/index.js';
import { asServiceError, ERROR_CATALOGUE, errorJson, passesSoon, ServiceError } from '../errors/index.js';
import {
  readBytes,
  readJsonBody,
  refuseBody,
  sendBytes,
  sendJson,
  type BodyLimits,
  type BytesReceiver,
  type JsonBodyReceiver,
} from '../http/index.js';
import { eachInTurns, TURNS } from '../json/index.js';
import type {
  Answer,
  AnswerSink,
  FeedbackOutcome,
  FeedbackRequest,
  FeedbackService,
  ModelVote,
  PredictionService,
  Query,
  QueryRefusal,
} from '../prediction/index.js';
import { predictionJson, retryAfterHeader, strictRefusal, type Refusal } from './answers.js';
import { AnswerWithVotes } from './answerWithVotes.js';
import { checkBinaryInput } from './binaryInputs.js';
import { ClientBatch, type BatchAnswer } from './clientBatch.js';
import { encodeInput } from './inputs.js';
import type { FrontendObserver, RefusedPart } from './observer.js';
import type { RequestTrace, RequestTracing } from './requestTracing.js';
import { isOctetStream, readOctetStreamRequest } from './octetStream.js';
import { queryBudgetNs, readQueryHeaders, type QueryHeaders } from './queryHeaders.js';
import {
  PREDICT_FIELDS,
  readPredictRequest,
  readUpdateRequest,
  UPDATE_FIELDS,
  type PredictRequest,
} from './requests.js';
import type { ApplicationRoute } from './routeTable.js';
import { validTraceparent } from './traceparent.js';

/** What every exchange of a frontend shares. */
export interface ExchangeContext {
  readonly service: PredictionService;
  readonly feedback: FeedbackService;
  readonly observer: FrontendObserver;
  /** Inputs that a client's batch may have. */
  readonly maxBatchInputs: number;
  nextQueryId(): string;
  readonly tracing?: RequestTracing | undefined;
  /** A defect: logged, never shown to the client. */
  onDefect(error: ServiceError, traceparent?: string): void;
}

const CLOSE = ['connection', 'close'] as const;
/** From here on an input of bytes takes about a millisecond. */
const LARGE_INPUT_BYTES = 512 * 1024;

const DEFAULT_HEADER = 'x-windjammer-default';

/** One HTTP request on a hot route, from its body to its answer. */
abstract class Exchange implements JsonBodyReceiver {
  protected abstract readonly about: RefusedPart;
  /** Of the query that it has become, of several the last. */
  protected queryId: string | undefined;

  constructor(
    protected readonly context: ExchangeContext,
    protected readonly route: ApplicationRoute,
    protected readonly request: IncomingMessage,
    protected readonly response: ServerResponse,
    protected readonly trace: RequestTrace | undefined,
  ) {}

  /** Reads the body and answers. */
  receive(limits: BodyLimits): void {
    readJsonBody(this.request, limits, this, UPDATE_FIELDS, true);
  }

  onBody(body: unknown): void {
    try {
      this.start(body);
    } catch (thrown) {
      this.onBodyError(asServiceError(thrown, this.queryId));
    }
  }

  onBodyError(error: ServiceError): void {
    if (error.code === 'internal') this.context.onDefect(error, this.traceparent);
    this.refuse(error);
  }

  protected abstract start(body: unknown): void;

  protected get traceparent(): string | undefined {
    return this.trace === undefined
      ? validTraceparent(this.request.headers.traceparent)
      : this.trace.traceparent;
  }

  protected refuse({ code, message, field, retryAfterMs }: Refusal): void {
    this.trace?.onRefused(code);
    this.context.observer.onRefused(this.route.application.name, code, this.about);
    let headers: readonly string[] | undefined = code === 'shutting_down' ? CLOSE : undefined;
    if (passesSoon(code)) headers = retryAfterHeader(1000);
    if (retryAfterMs !== undefined) headers = retryAfterHeader(retryAfterMs);
    const { status } = ERROR_CATALOGUE[code];
    sendJson(this.response, status, errorJson(code, message, field, retryAfterMs), headers);
  }
}

/** `POST /:application/predict`. */
export class PredictExchange extends Exchange implements AnswerSink, BytesReceiver {
  protected readonly about = 'query';
  private headers: QueryHeaders | undefined;
  private strict = false;

  /** @param source whoever asks, as an object that lasts: their key, or their connection. */
  constructor(
    context: ExchangeContext,
    route: ApplicationRoute,
    request: IncomingMessage,
    response: ServerResponse,
    trace: RequestTrace | undefined,
    private readonly source: object,
  ) {
    super(context, route, request, response, trace);
  }

  override receive(limits: BodyLimits): void {
    const { request } = this;
    const headers = readQueryHeaders(request.headers);
    if (headers instanceof ServiceError) {
      refuseBody(request, this, headers);
      return;
    }
    this.headers = headers;
    if (isOctetStream(request.headers['content-type'])) readBytes(request, limits, this);
    else readJsonBody(request, limits, this, PREDICT_FIELDS);
  }

  /** To look at a large input, hash and compare it takes milliseconds: of many that have come each has its turn. */
  onBytes(body: Buffer, release: () => void): void {
    if (body.length < LARGE_INPUT_BYTES) {
      release();
      this.startBytes(body);
      return;
    }
    const step = () => {
      release();
      if (!this.response.destroyed) this.startBytes(body);
      return true;
    };
    TURNS.run({ remaining: body.length, step });
  }

  private startBytes(body: Buffer): void {
    try {
      const request = readOctetStreamRequest(this.request.url ?? '', body);
      const input = request.input as Uint8Array;
      const error = checkBinaryInput(this.expectedInput(request), input, 'input');
      if (error === undefined) this.ask(request, input);
      else this.refuse(error);
    } catch (thrown) {
      this.onBodyError(asServiceError(thrown, this.queryId));
    }
  }

  onAnswer(_query: Query, answer: Answer): void {
    this.reply(answer);
  }

  onRefusal(_query: Query, refusal: QueryRefusal): void {
    this.refuse(refusal);
  }

  protected start(body: unknown): void {
    const request = readPredictRequest(body, this.context.maxBatchInputs);
    if (request.inputBatch !== undefined) {
      this.askBatch(request, request.inputBatch);
      return;
    }
    const input = encodeInput(this.expectedInput(request), request.input, 'input');
    if (input instanceof ServiceError) this.refuse(input);
    else this.ask(request, input);
  }

  private ask(request: PredictRequest, input: Uint8Array): void {
    this.strict = this.isStrict(request);
    const query = this.makeQuery(input, request);
    const { service } = this.context;
    let polled: AnswerWithVotes | undefined;
    if (request.votes) {
      polled = new AnswerWithVotes(service, this, (answer, votes) => this.reply(answer, votes));
      polled.start(query);
    } else service.predict(query, this);
    if (!this.response.writableEnded) {
      this.response.on('close', () => {
        if (this.response.writableEnded) return;
        service.cancel(query.id);
        polled?.cancel();
      });
    }
  }

  /** Whoever gave the answer cannot be told what is wrong with writing it; the client can. */
  private reply(answer: Answer, votes?: readonly ModelVote[]): void {
    try {
      this.write(answer, votes);
    } catch (thrown) {
      this.onBodyError(asServiceError(thrown, this.queryId));
    }
  }

  private write(answer: Answer, votes: readonly ModelVote[] | undefined): void {
    const { defaultReason } = answer;
    if (!answer.isDefault || defaultReason === undefined) {
      sendJson(this.response, 200, predictionJson(answer, votes));
    } else if (this.strict) this.refuse(strictRefusal(answer, defaultReason));
    else sendJson(this.response, 200, predictionJson(answer, votes), [DEFAULT_HEADER, defaultReason]);
  }

  private expectedInput(request: PredictRequest): InputForm {
    return request.version === undefined ? this.route.input : this.route.inputOfAnyVersion;
  }

  /** What the request says of itself goes before its headers, those before the application. */
  private isStrict(request: PredictRequest): boolean {
    return request.strict ?? this.headers?.strict ?? this.route.application.strict ?? false;
  }

  private makeQuery(input: Uint8Array, request: PredictRequest, index = 0): Query {
    const { application } = this.route;
    const { context, version, objectiveUs } = request;
    const id = this.context.nextQueryId();
    this.queryId = id;
    return {
      id,
      application: application.name,
      input,
      context,
      features: request.batchFeatures === undefined ? request.features : request.batchFeatures[index],
      version,
      priority: request.priority ?? this.headers?.priority,
      launchClass: request.launchClass ?? this.headers?.launchClass,
      budgetNs: queryBudgetNs(application.latencyObjectiveUs, objectiveUs, this.headers?.dueMs),
      traceparent: this.traceparent,
      source: this.source,
      trace: this.trace?.query(id, application.name),
    };
  }

  private askBatch(request: PredictRequest, inputs: readonly unknown[]): void {
    const { name } = this.route.application;
    const form = this.expectedInput(request);
    const { service, observer } = this.context;
    const done = (answer: BatchAnswer) => this.replyBatch(answer);
    const failed = (error: ServiceError) => this.onBodyError(error);
    const batch = new ClientBatch(inputs.length, this.isStrict(request), name, observer, done, failed);
    const queryIds: string[] = [];
    const ask = (index: number) => {
      const input = encodeInput(form, inputs[index], `input_batch[${index}]`);
      if (input instanceof ServiceError) batch.refuse(index, input);
      else {
        const query = this.makeQuery(input, request, index);
        queryIds.push(query.id);
        service.predict(query, batch.sink(index));
      }
    };
    this.response.on('close', () => {
      if (this.response.writableEnded) return;
      for (const queryId of queryIds) service.cancel(queryId);
    });
    eachInTurns({
      count: inputs.length,
      bytes: this.bodyBytes,
      each: (index) => {
        try {
          ask(index);
        } catch (thrown) {
          batch.fail(thrown);
        }
      },
      isGone: () => this.response.writableEnded || this.response.destroyed,
    });
  }

  /** As it was sent; of a body without a length unknown, and taken for large. */
  private get bodyBytes(): number {
    return Number(this.request.headers['content-length'] ?? Infinity);
  }

  private replyBatch({ json, defaultReasons, retryAfterMs }: BatchAnswer): void {
    const headers: string[] = [];
    if (defaultReasons.size > 0) headers.push(DEFAULT_HEADER, [...defaultReasons].join(', '));
    if (retryAfterMs !== undefined) headers.push(...retryAfterHeader(retryAfterMs));
    if (typeof json === 'string') sendJson(this.response, 200, json, headers);
    else sendBytes(this.response, 200, 'application/json', json, headers);
  }
}

/** `POST /:application/update`. */
export class UpdateExchange extends Exchange {
  protected readonly about = 'feedback';

  protected start(body: unknown): void {
    const request = readUpdateRequest(body);
    const { application } = this.route;
    let input: Uint8Array | undefined;
    if (request.input !== undefined) {
      const encoded = encodeInput(this.route.input, request.input, 'input');
      if (encoded instanceof ServiceError) {
        this.refuse(encoded);
        return;
      }
      input = encoded;
    }
    const feedback: FeedbackRequest = {
      application: application.name,
      context: request.context,
      queryId: request.queryId,
      input,
      label: request.label,
      loss: request.loss,
      losses: request.losses,
      features: request.features,
      idempotencyKey: request.idempotencyKey,
      trace: this.trace,
    };
    this.context.feedback.update(feedback, (outcome) => this.onOutcome(request.queryId, outcome));
  }

  private onOutcome(queryId: string | undefined, outcome: FeedbackOutcome): void {
    const error = feedbackError(queryId, outcome);
    if (error !== undefined) {
      this.refuse(error);
      return;
    }
    sendJson(
      this.response,
      200,
      `{"accepted":true,"joined":"${outcome.joined}","durable":${outcome.durable}}`,
    );
  }
}

/** What a client is told of feedback that nothing was learned from. @param queryId that it named, if it did. */
export function feedbackError(
  queryId: string | undefined,
  { refusal, accepted }: FeedbackOutcome,
): Refusal | undefined {
  if (refusal !== undefined) return refusal;
  if (accepted) return undefined;
  if (queryId !== undefined) {
    const message = 'no query with this id is remembered for this application and context';
    return { code: 'unknown_query', message, field: 'query_id' };
  }
  const message = 'no linked model could evaluate the input, so that nothing was learned';
  return { code: 'default_unavailable', message, field: 'input' };
}
