import { asServiceError, errorJson, type ServiceError } from '../errors/index.js';
import type { Answer, AnswerSink, DefaultReason, Query, QueryRefusal } from '../prediction/index.js';
import { predictionJson, strictRefusal, type Refusal } from './answers.js';
import type { FrontendObserver } from './observer.js';

/** What a client's batch became: the JSON of its answer, and what its headers say. */
export interface BatchAnswer {
  readonly json: string;
  /** Of the inputs that got a default output, each once. */
  readonly defaultReasons: ReadonlySet<DefaultReason>;
  /** The longest that an input was told to wait; undefined: none was. */
  readonly retryAfterMs: number | undefined;
}

const NO_REASONS: ReadonlySet<DefaultReason> = new Set();

/** Answers of a client's batch, in the order of its inputs, until the last one is there. */
export class ClientBatch {
  private readonly parts: string[];
  private open: number;
  private defaultReasons: Set<DefaultReason> | undefined;
  private retryAfterMs: number | undefined;

  constructor(
    size: number,
    private readonly strict: boolean,
    private readonly application: string,
    private readonly observer: FrontendObserver,
    private readonly done: (answer: BatchAnswer) => void,
    /** The answers cannot be written: together they are longer than a text can be. */
    private readonly failed: (error: ServiceError) => void,
  ) {
    this.parts = new Array<string>(size);
    this.open = size;
  }

  /** Takes the answer to one input. */
  sink(index: number): AnswerSink {
    return new BatchItemSink(this, index);
  }

  answer(index: number, answer: Answer): void {
    const { isDefault, defaultReason } = answer;
    if (!isDefault || defaultReason === undefined) this.settle(index, predictionJson(answer));
    else if (this.strict) this.refuse(index, strictRefusal(answer, defaultReason));
    else {
      (this.defaultReasons ??= new Set()).add(defaultReason);
      this.settle(index, predictionJson(answer));
    }
  }

  refuse(index: number, { code, message, field, retryAfterMs }: Refusal): void {
    this.observer.onRefused(this.application, code);
    if (retryAfterMs !== undefined) this.retryAfterMs = Math.max(retryAfterMs, this.retryAfterMs ?? 0);
    this.settle(index, errorJson(code, message, field, retryAfterMs));
  }

  /** Of something thrown while an answer was taken. */
  fail(thrown: unknown): void {
    this.failed(asServiceError(thrown));
  }

  private settle(index: number, json: string): void {
    this.parts[index] = json;
    this.open -= 1;
    if (this.open > 0) return;
    this.done({
      json: `{"batch_predictions":[${this.parts.join(',')}]}`,
      defaultReasons: this.defaultReasons ?? NO_REASONS,
      retryAfterMs: this.retryAfterMs,
    });
  }
}

class BatchItemSink implements AnswerSink {
  constructor(
    private readonly batch: ClientBatch,
    private readonly index: number,
  ) {}

  onAnswer(_query: Query, answer: Answer): void {
    try {
      this.batch.answer(this.index, answer);
    } catch (thrown) {
      this.batch.fail(thrown);
    }
  }

  onRefusal(_query: Query, { code, message, field }: QueryRefusal): void {
    const place = field === 'input' || field === undefined ? `input_batch[${this.index}]` : field;
    try {
      this.batch.refuse(this.index, { code, message, field: place });
    } catch (thrown) {
      this.batch.fail(thrown);
    }
  }
}
