import { asServiceError, errorJson, type ServiceError } from '../errors/index.js';
import type { Answer, AnswerSink, DefaultReason, Query, QueryRefusal } from '../prediction/index.js';
import { predictionJson, strictRefusal, type Refusal } from './answers.js';
import type { FrontendObserver } from './observer.js';

/** What a client's batch became: the JSON of its answer, and what its headers say. */
export interface BatchAnswer {
  /** Of a large one, bytes. */
  readonly json: string | readonly Uint8Array[];
  /** Of the inputs that got a default output, each once. */
  readonly defaultReasons: ReadonlySet<DefaultReason>;
  /** The longest that an input was told to wait; undefined: none was. */
  readonly retryAfterMs: number | undefined;
}

const NO_REASONS: ReadonlySet<DefaultReason> = new Set();

/** So many characters are made bytes at once, as soon as they are there: to write all of a large batch at its end takes long. */
const PIECE_LENGTH = 64 * 1024;

/** Answers of a client's batch, in the order of its inputs, until the last one is there. */
export class ClientBatch {
  /** Answers that wait for one before them. */
  private readonly parts: (string | undefined)[];
  /** Answers that are written. */
  private written = 0;
  private text = '{"batch_predictions":[';
  private readonly pieces: Buffer[] = [];
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
    this.parts = new Array<string | undefined>(size);
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
    const { parts } = this;
    parts[index] = json;
    for (let part = parts[this.written]; part !== undefined; part = parts[this.written]) {
      parts[this.written] = undefined;
      this.write(part);
    }
    this.open -= 1;
    if (this.open > 0) return;
    const text = `${this.text}]}`;
    this.done({
      json: this.pieces.length === 0 ? text : [...this.pieces, Buffer.from(text)],
      defaultReasons: this.defaultReasons ?? NO_REASONS,
      retryAfterMs: this.retryAfterMs,
    });
  }

  private write(part: string): void {
    this.text += this.written === 0 ? part : `,${part}`;
    this.written += 1;
    if (this.text.length < PIECE_LENGTH) return;
    this.pieces.push(Buffer.from(this.text));
    this.text = '';
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
