import type { IncomingMessage, ServerResponse } from 'node:http';
import { asServiceError, errorJson, ServiceError } from '../errors/index.js';
import { sendError, sendJson, type JsonBodyReceiver } from '../http/index.js';
import type {
  Answer,
  AnswerSink,
  FeedbackOutcome,
  FeedbackRequest,
  ModelVote,
  PredictionService,
  Query,
  QueryRefusal,
} from '../prediction/index.js';
import { DEFAULT_EXPLANATIONS, predictionJson, retryAfterHeader, STRICT_ERRORS } from './answers.js';
import { AnswerWithVotes } from './answerWithVotes.js';
import { encodeInput } from './inputs.js';
import type { FrontendObserver, RefusedPart } from './observer.js';
import type { RequestTrace, RequestTracing } from './requestTracing.js';
import { readPredictRequest, readUpdateRequest, type PredictRequest } from './requests.js';
import type { ApplicationRoute } from './routeTable.js';
import { validTraceparent } from './traceparent.js';

/** What every exchange of a frontend shares. */
export interface ExchangeContext {
  readonly service: PredictionService;
  readonly observer: FrontendObserver;
  nextQueryId(): string;
  readonly tracing?: RequestTracing | undefined;
  /** A defect: logged, never shown to the client. */
  onDefect(error: ServiceError, traceparent?: string): void;
}

const CLOSE = ['connection', 'close'] as const;

/** An error as a client is told it. */
type Refusal = Pick<ServiceError, 'code' | 'message' | 'field'>;

/** One HTTP request on a hot route, from its body to its answer. */
abstract class Exchange implements JsonBodyReceiver {
  protected abstract readonly about: RefusedPart;

  constructor(
    protected readonly context: ExchangeContext,
    protected readonly route: ApplicationRoute,
    protected readonly request: IncomingMessage,
    protected readonly response: ServerResponse,
    protected readonly trace: RequestTrace | undefined,
  ) {}

  onBody(body: unknown): void {
    try {
      this.start(body);
    } catch (thrown) {
      this.onBodyError(asServiceError(thrown));
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

  protected refuse(error: Refusal, more?: readonly string[]): void {
    this.trace?.onRefused(error.code);
    this.context.observer.onRefused(this.route.application.name, error.code, this.about);
    const headers = error.code === 'shutting_down' ? CLOSE : more;
    sendError(this.response, error.code, error.message, error.field, headers);
  }

  protected makeQuery(input: Uint8Array, request: PredictRequest): Query {
    const { application } = this.route;
    const { objectiveUs } = request;
    const id = this.context.nextQueryId();
    return {
      id,
      application: application.name,
      input,
      context: request.context,
      version: request.version,
      budgetNs:
        objectiveUs === undefined ? undefined : Math.min(objectiveUs, application.latencyObjectiveUs) * 1000,
      traceparent: this.traceparent,
      trace: this.trace?.query(id, application.name),
    };
  }
}

/** `POST /:application/predict`. */
export class PredictExchange extends Exchange implements AnswerSink {
  protected readonly about = 'query';
  private strict = false;

  protected start(body: unknown): void {
    const request = readPredictRequest(body);
    this.strict = request.strict;
    if (request.inputBatch !== undefined) {
      this.startBatch(request, request.inputBatch);
      return;
    }
    const { application } = this.route;
    const input = encodeInput(application.inputType, request.input, this.expectedLength(request), 'input');
    if (input instanceof ServiceError) {
      this.refuse(input);
      return;
    }
    const query = this.makeQuery(input, request);
    const { service } = this.context;
    if (request.votes) {
      new AnswerWithVotes(service, this, (answer, votes) => this.reply(answer, votes)).start(query);
    } else service.predict(query, this);
    if (!this.response.writableEnded) {
      this.response.on('close', () => {
        if (!this.response.writableEnded) service.cancel(query.id);
      });
    }
  }

  onAnswer(_query: Query, answer: Answer): void {
    this.reply(answer);
  }

  private reply(answer: Answer, votes?: readonly ModelVote[]): void {
    const { defaultReason } = answer;
    if (!answer.isDefault || defaultReason === undefined) {
      sendJson(this.response, 200, predictionJson(answer, votes));
    } else if (this.strict) {
      this.refuse(
        {
          code: STRICT_ERRORS[defaultReason],
          message: DEFAULT_EXPLANATIONS[defaultReason],
          field: undefined,
        },
        retryAfterHeader(answer),
      );
    } else {
      sendJson(this.response, 200, predictionJson(answer, votes), ['x-windjammer-default', defaultReason]);
    }
  }

  onRefusal(_query: Query, refusal: QueryRefusal): void {
    this.refuse({ code: refusal.code, message: refusal.message, field: refusal.field });
  }

  /** A version that the client names may take another length than the current one: the engine checks that. */
  private expectedLength(request: PredictRequest): number | undefined {
    return request.version === undefined ? this.route.inputLength : undefined;
  }

  private startBatch(request: PredictRequest, inputs: readonly unknown[]): void {
    const { application } = this.route;
    const inputLength = this.expectedLength(request);
    const batch = new ClientBatch(inputs.length, (json) => sendJson(this.response, 200, json));
    const queryIds: string[] = [];
    for (let index = 0; index < inputs.length; index++) {
      const field = `input_batch[${index}]`;
      const input = encodeInput(application.inputType, inputs[index], inputLength, field);
      if (input instanceof ServiceError) {
        this.context.observer.onRefused(application.name, input.code);
        batch.settle(index, errorJson(input.code, input.message, input.field));
      } else {
        const sink = new BatchItemSink(batch, index, this.strict, application.name, this.context.observer);
        const query = this.makeQuery(input, request);
        queryIds.push(query.id);
        this.context.service.predict(query, sink);
      }
    }
    this.response.on('close', () => {
      if (this.response.writableEnded) return;
      for (const queryId of queryIds) this.context.service.cancel(queryId);
    });
  }
}

/** Answers of a client's batch, in the order of its inputs, until the last one is there. */
class ClientBatch {
  private readonly parts: string[];
  private open: number;

  constructor(
    size: number,
    private readonly done: (json: string) => void,
  ) {
    this.parts = new Array<string>(size);
    this.open = size;
  }

  settle(index: number, json: string): void {
    this.parts[index] = json;
    this.open -= 1;
    if (this.open === 0) this.done(`{"batch_predictions":[${this.parts.join(',')}]}`);
  }
}

class BatchItemSink implements AnswerSink {
  constructor(
    private readonly batch: ClientBatch,
    private readonly index: number,
    private readonly strict: boolean,
    private readonly application: string,
    private readonly observer: FrontendObserver,
  ) {}

  onAnswer(_query: Query, answer: Answer): void {
    const { defaultReason } = answer;
    if (this.strict && answer.isDefault && defaultReason !== undefined) {
      const code = STRICT_ERRORS[defaultReason];
      this.observer.onRefused(this.application, code);
      this.batch.settle(this.index, errorJson(code, DEFAULT_EXPLANATIONS[defaultReason]));
    } else {
      this.batch.settle(this.index, predictionJson(answer));
    }
  }

  onRefusal(_query: Query, { code, message, field }: QueryRefusal): void {
    this.observer.onRefused(this.application, code);
    const place = field === 'input' || field === undefined ? `input_batch[${this.index}]` : field;
    this.batch.settle(this.index, errorJson(code, message, place));
  }
}

/** `POST /:application/update`. */
export class UpdateExchange extends Exchange {
  protected readonly about = 'feedback';

  protected start(body: unknown): void {
    const request = readUpdateRequest(body);
    const { application, inputLength } = this.route;
    let input: Uint8Array | undefined;
    if (request.input !== undefined) {
      const encoded = encodeInput(application.inputType, request.input, inputLength, 'input');
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
      trace: this.trace,
    };
    this.context.service.update(feedback, (outcome) => this.onOutcome(request.queryId, outcome));
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
  if (refusal !== undefined) return { code: refusal.code, message: refusal.message, field: refusal.field };
  if (accepted) return undefined;
  if (queryId !== undefined) {
    const message = 'no query with this id is remembered for this application and context';
    return { code: 'unknown_query', message, field: 'query_id' };
  }
  const message = 'no linked model could evaluate the input, so that nothing was learned';
  return { code: 'default_unavailable', message, field: 'input' };
}
