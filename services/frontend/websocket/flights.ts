import type { ErrorCode, ServiceError } from '../../errors/index.js';
import type { Answer, AnswerSink, FeedbackOutcome, Query, QueryRefusal } from '../../prediction/index.js';
import type { WireError } from '../../wire/index.js';
import { strictRefusal } from '../answers.js';
import type { RefusedPart } from '../observer.js';
import type { FrameWriter } from './frameWriter.js';
import type { MessageFormat } from './messageFormat.js';

/** Something that waits to be sent. */
export interface Outgoing {
  writeTo(frames: FrameWriter): void;
}

/** A message that will be answered under its id. */
export interface Flight extends Outgoing {
  readonly id: number;
  /** The query to withdraw when nobody waits any more; undefined: feedback, which is learned all the same. */
  readonly queryId: string | undefined;
  /** Bytes of input that it keeps in memory. */
  readonly inputBytes: number;
}

/** Whoever sends answers. */
export interface FlightOwner {
  onLanded(flight: Flight): void;
  onRefused(application: string, code: ErrorCode, part?: RefusedPart): void;
  /** What a client is told of something thrown; a defect is logged. */
  told(thrown: unknown, queryId?: string): ServiceError;
}

export class PredictFlight implements Flight, AnswerSink {
  private answer: Answer | undefined;
  private error: WireError | undefined;

  constructor(
    private readonly owner: FlightOwner,
    private readonly format: MessageFormat,
    readonly id: number,
    readonly queryId: string,
    readonly inputBytes: number,
    private readonly strict: boolean,
  ) {}

  onAnswer(query: Query, answer: Answer): void {
    const { defaultReason } = answer;
    if (this.strict && defaultReason !== undefined) {
      this.fail(query.application, strictRefusal(answer, defaultReason));
      return;
    }
    this.answer = answer;
    this.owner.onLanded(this);
  }

  onRefusal(query: Query, refusal: QueryRefusal): void {
    this.fail(query.application, refusal);
  }

  writeTo(frames: FrameWriter): void {
    if (this.answer !== undefined) this.writeAnswer(frames, this.answer);
    else if (this.error !== undefined) this.format.error(frames, this.id, this.error);
  }

  /** What cannot be written, since it is longer than a text can be, costs its own message alone. */
  private writeAnswer(frames: FrameWriter, answer: Answer): void {
    try {
      this.format.prediction(frames, this.id, answer);
    } catch (thrown) {
      this.format.error(frames, this.id, this.owner.told(thrown, this.queryId));
    }
  }

  private fail(application: string, error: WireError): void {
    this.error = error;
    this.owner.onRefused(application, error.code);
    this.owner.onLanded(this);
  }
}

export class FeedbackFlight implements Flight {
  readonly queryId = undefined;
  private outcome: FeedbackOutcome | undefined;
  private error: WireError | undefined;

  constructor(
    private readonly owner: FlightOwner,
    private readonly format: MessageFormat,
    readonly id: number,
    readonly inputBytes: number,
    private readonly application: string,
  ) {}

  /** @param error in place of an outcome that accepts. */
  land(outcome: FeedbackOutcome, error: WireError | undefined): void {
    this.outcome = outcome;
    this.error = error;
    if (error !== undefined) this.owner.onRefused(this.application, error.code, 'feedback');
    this.owner.onLanded(this);
  }

  writeTo(frames: FrameWriter): void {
    if (this.error !== undefined) this.format.error(frames, this.id, this.error);
    else if (this.outcome !== undefined) this.format.feedback(frames, this.id, this.outcome);
  }
}

/** An error for a message that never was in flight. */
export class RefusedMessage implements Outgoing {
  constructor(
    private readonly format: MessageFormat,
    private readonly id: number | undefined,
    private readonly error: WireError,
  ) {}

  writeTo(frames: FrameWriter): void {
    this.format.error(frames, this.id, this.error);
  }
}
