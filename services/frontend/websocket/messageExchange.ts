import type { AccessKey } from '../../access/index.js';
import { asServiceError, ServiceError, type ErrorCode } from '../../errors/index.js';
import type { FeedbackOutcome, FeedbackRequest } from '../../prediction/index.js';
import { GarbageError, type WireError } from '../../wire/index.js';
import { feedbackError } from '../exchanges.js';
import type { RefusedPart } from '../observer.js';
import { queryBudgetNs } from '../queryHeaders.js';
import { validTraceparent } from '../traceparent.js';
import type { ConnectionContext } from './connectionContext.js';
import { FeedbackFlight, PredictFlight, RefusedMessage, type Flight, type FlightOwner } from './flights.js';
import { FlightTable } from './flightTable.js';
import { BINARY_FORMAT, type MessageFormat } from './messageFormat.js';
import { BinaryMessage, JsonMessage, type Message } from './messageReader.js';
import type { Outbox } from './outbox.js';

/** Whose connection it is that messages come from. */
export interface MessageHost {
  /** Inputs in flight take more than they may. */
  onInputsFull(): void;
  /** What came is no message at all. */
  onGarbage(error: GarbageError): void;
}

/** Does what the messages of one connection ask for, and has each answered under its id. */
export class MessageExchange implements FlightOwner {
  private readonly flights = new FlightTable();

  constructor(
    private readonly context: ConnectionContext,
    /** Whose connection it is, where that matters. */
    private readonly key: AccessKey | undefined,
    private readonly outbox: Outbox,
    private readonly host: MessageHost,
  ) {}

  /** Messages that are not answered. */
  get inFlight(): number {
    return this.flights.size;
  }

  /** Whether inputs in flight take more than they may. */
  get isFull(): boolean {
    return this.flights.inputBytes > this.context.limits.inputBytes;
  }

  /** @param content a frame, or the value of JSON */
  take(format: MessageFormat, bytes: number, content: unknown): void {
    let id: number | undefined;
    try {
      const message =
        format === BINARY_FORMAT ? new BinaryMessage(content as Buffer) : new JsonMessage(content);
      id = message.id;
      this.start(message, format, bytes);
    } catch (thrown) {
      if (thrown instanceof GarbageError) this.host.onGarbage(thrown);
      else this.refuse(format, id, undefined, this.told(thrown));
    }
  }

  /** @param id of the message, where it has one that can be read. */
  refuse(
    format: MessageFormat,
    id: number | undefined,
    application: string | undefined,
    error: WireError,
    part?: RefusedPart,
  ): void {
    this.onRefused(application, error.code, part);
    this.outbox.send(new RefusedMessage(format, id, error));
  }

  onLanded(flight: Flight): void {
    if (this.flights.remove(flight)) this.outbox.send(flight);
  }

  onRefused(application: string | undefined, code: ErrorCode, part?: RefusedPart): void {
    this.context.observer.onRefused(application, code, part);
  }

  told(thrown: unknown, queryId?: string): ServiceError {
    const error = asServiceError(thrown, queryId);
    if (error.code === 'internal') this.context.onDefect(error);
    return error;
  }

  /** Nobody waits any more. */
  abandon(): void {
    for (const { queryId } of this.flights.clear()) {
      if (queryId !== undefined) this.context.service.cancel(queryId);
    }
  }

  private start(message: Message, format: MessageFormat, bytes: number): void {
    const { id, kind } = message;
    if (kind === 'cancel') {
      this.withdraw(id);
      return;
    }
    const { limits } = this.context;
    if (this.flights.find(id) !== undefined) {
      throw new ServiceError('duplicate_id', `id ${id} is in flight on this connection`, 'id');
    }
    if (bytes > limits.messageBytes) {
      const text = `a message may have at most ${limits.messageBytes} bytes, ${bytes} came`;
      throw new ServiceError('body_too_large', text);
    }
    if (this.flights.size >= limits.inFlight) {
      const text = `a connection may have at most ${limits.inFlight} messages in flight`;
      throw new ServiceError('too_many_in_flight', text);
    }
    if (this.context.isDraining()) throw new ServiceError('shutting_down', 'the server is draining');
    if (kind === 'predict') this.predict(message, format);
    else if (kind === 'feedback') this.feedback(message, format);
    else throw new ServiceError('invalid_value', 'type must be predict, feedback or cancel', 'type');
  }

  private predict(message: Message, format: MessageFormat): void {
    const request = message.predict();
    const route = this.route(message, 'predict');
    if (route === undefined) {
      this.refuse(format, message.id, undefined, unknownApplication(message.application));
      return;
    }
    const { application } = route;
    const input = message.input(request.version === undefined ? route.input : route.inputOfAnyVersion);
    if (input instanceof ServiceError) {
      this.refuse(format, message.id, application.name, input);
      return;
    }
    const { objectiveUs, version, context, features, priority, launchClass } = request;
    const strict = request.strict ?? application.strict ?? false;
    const queryId = this.context.nextQueryId();
    const trace = this.context.tracing?.onMessage('predict', message.traceparent);
    const flight = new PredictFlight(this, format, message.id, queryId, input.length, strict);
    this.depart(flight);
    this.context.service.predict(
      {
        id: queryId,
        application: application.name,
        input,
        context,
        features,
        version,
        priority,
        launchClass,
        budgetNs: queryBudgetNs(application.latencyObjectiveUs, objectiveUs, undefined),
        traceparent: trace === undefined ? validTraceparent(message.traceparent) : trace.traceparent,
        source: this.key ?? this,
        trace: trace?.query(queryId, application.name),
      },
      flight,
    );
  }

  private feedback(message: Message, format: MessageFormat): void {
    const request = message.feedback();
    const route = this.route(message, 'feedback');
    if (route === undefined) {
      this.refuse(format, message.id, undefined, unknownApplication(message.application));
      return;
    }
    const { application } = route;
    let input: Uint8Array | undefined;
    if (request.input !== undefined) {
      const read = message.input(route.input);
      if (read instanceof ServiceError) {
        this.refuse(format, message.id, application.name, read, 'feedback');
        return;
      }
      input = read;
    }
    const { queryId, label, loss, losses, features, context, idempotencyKey } = request;
    const flight = new FeedbackFlight(this, format, message.id, input?.length ?? 0, application.name);
    this.depart(flight);
    const trace = this.context.tracing?.onMessage('feedback', message.traceparent);
    const name = application.name;
    const feedback: FeedbackRequest = {
      application: name,
      context,
      queryId,
      input,
      label,
      loss,
      losses,
      features,
      idempotencyKey,
      trace,
    };
    this.context.feedback.update(feedback, (outcome: FeedbackOutcome) => {
      flight.land(outcome, feedbackError(queryId, outcome));
      trace?.end();
    });
  }

  /**
   * Of a message that is read: before, one in binary does not know its application.
   * @throws ServiceError `missing_scope`, `outside_key`
   */
  private route({ application }: Message, scope: 'predict' | 'feedback') {
    const { gate, routes } = this.context;
    const denial = this.key && gate?.refusal(this.key, scope, 'application', application);
    if (denial !== undefined) throw new ServiceError(denial.code, denial.message, denial.field);
    return routes.find(application);
  }

  private depart(flight: Flight): void {
    this.flights.add(flight);
    if (this.isFull) this.host.onInputsFull();
  }

  private withdraw(id: number): void {
    const flight = this.flights.find(id);
    if (flight?.queryId === undefined) return;
    this.flights.remove(flight);
    this.context.service.cancel(flight.queryId);
    this.outbox.flushSoon();
  }
}

function unknownApplication(name: string): WireError {
  const shown = name.length <= 64 ? name : `${name.slice(0, 61)}...`;
  return {
    code: 'unknown_application',
    message: `no application has the name ${JSON.stringify(shown)}`,
    field: 'application',
  };
}
