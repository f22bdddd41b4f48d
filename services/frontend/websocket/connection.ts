import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { AccessKey, Gate } from '../../access/index.js';
import { asServiceError, ServiceError, type ErrorCode } from '../../errors/index.js';
import {
  INTAKE,
  READING,
  overBudget,
  ProgressMark,
  type BodyBudget,
  type BudgetHolder,
  type IntakeSource,
  type ReadConnection,
} from '../../http/index.js';
import { readJson, type JsonReceiver } from '../../json/index.js';
import type { FeedbackOutcome, FeedbackRequest } from '../../prediction/index.js';
import { GarbageError, type WireError } from '../../wire/index.js';
import { feedbackError, type ExchangeContext } from '../exchanges.js';
import type { RefusedPart } from '../observer.js';
import { queryBudgetNs } from '../queryHeaders.js';
import type { RouteTable } from '../routeTable.js';
import { validTraceparent } from '../traceparent.js';
import {
  FeedbackFlight,
  PredictFlight,
  RefusedMessage,
  type Flight,
  type FlightOwner,
  type Outgoing,
} from './flights.js';
import type { FrameWriter } from './frameWriter.js';
import { Inbox, type InboxOwner } from './inbox.js';
import type { WebSocketLimits } from './limits.js';
import { BINARY_FORMAT, JSON_FORMAT, type MessageFormat } from './messageFormat.js';
import { BinaryMessage, JsonMessage, MESSAGE_FIELDS, type Message } from './messageReader.js';

/** What a message that brings one has. */
const LABEL = '"label"';

/** What the connections of a frontend share. */
export interface ConnectionContext extends ExchangeContext {
  readonly routes: RouteTable;
  readonly limits: WebSocketLimits;
  readonly budget: BodyBudget;
  readonly gate: Gate | undefined;
  readonly frames: FrameWriter;
  /** Nothing new is taken any more. */
  isDraining(): boolean;
  /** Calls the connection's `flush` once what happens now has happened. */
  flushSoon(connection: Connection): void;
}

/** The close code of a connection whose key is good no more: 401, among the codes that applications may choose. */
const KEY_ENDED = 4401;

/** A piece of this size is written before more is laid beside it. */
const WRITE_BYTES = 64 * 1024;

/** The close code for what another try may get: there is no memory for the message now. */
const TRY_AGAIN_LATER = 1013;

/** What a chunk takes beside its bytes while its message is not whole: the library keeps each. */
const CHUNK_BYTES = 360;

/** A message of less does not count. */
const HOLD_BYTES = 64 * 1024;

/** One WebSocket: messages in, answers out as they come, matched by the client's ids. */
export class Connection implements FlightOwner, JsonReceiver, BudgetHolder, InboxOwner {
  private readonly flights = new Map<number, Flight>();
  private outgoing: Outgoing[] = [];
  private inputBytes = 0;
  private isPaused = false;
  /** This turn of the event loop has read enough. */
  private isHeld = false;
  private readonly intake: IntakeSource = {
    pause: () => {
      this.isHeld = true;
      this.pause();
    },
    resume: () => {
      this.isHeld = false;
      this.considerReading();
    },
  };
  private readonly reading: ReadConnection;
  private readonly progress = new ProgressMark();
  private isClosing = false;
  /** Of a message that is not whole yet: what came of it, as it lies in the library. */
  private partialBytes = 0;
  private heldBytes = 0;
  heardMs = Infinity;
  private willFlush = false;
  private heardBytes = -1;
  private handedOver = 0;
  private readonly inbox = new Inbox(this);
  /** A message is being parsed: those behind it wait. */
  private isReading = false;
  /** Of the JSON that is being parsed. */
  private jsonBytes = 0;

  constructor(
    private readonly context: ConnectionContext,
    private readonly webSocket: WebSocket,
    private readonly socket: Socket,
    /** Whose connection it is, where that matters. */
    private readonly key: AccessKey | undefined,
  ) {
    this.reading = READING.of(socket);
    webSocket.on('message', (data, isBinary) => this.onMessage(data as Buffer, isBinary));
    webSocket.on('ping', () => this.onPing());
    // What is wrong with a connection is told to the client in its close frame.
    webSocket.on('error', () => undefined);
    webSocket.on('close', () => this.abandon());
    socket.on('drain', () => this.considerReading());
    // Behind the library, which has taken what messages the chunk ends.
    socket.on('data', (chunk: Buffer) => this.onChunk(chunk.length));
  }

  /** Answers written that the client has not taken. */
  get bufferedBytes(): number {
    return this.socket.writableLength;
  }

  onLanded(flight: Flight): void {
    // A withdrawn query's id may be that of another message by now.
    if (this.flights.get(flight.id) !== flight) return;
    this.flights.delete(flight.id);
    this.inputBytes -= flight.inputBytes;
    this.send(flight);
  }

  onRefused(application: string | undefined, code: ErrorCode, part?: RefusedPart): void {
    this.context.observer.onRefused(application, code, part);
  }

  told(thrown: unknown): ServiceError {
    const error = asServiceError(thrown);
    if (error.code === 'internal') this.context.onDefect(error);
    return error;
  }

  /** Writes what has come together; closes when the frontend drains and nothing is left to answer. */
  flush(): void {
    this.willFlush = false;
    this.write();
    if (this.context.isDraining()) this.closeWhenIdle();
    else this.considerReading();
  }

  closeWhenIdle(): void {
    if (this.flights.size > 0 || this.isReading || this.inbox.size > 0) return;
    this.close(1001, 'the server is draining');
  }

  /** Its key was removed or has expired. */
  endAccess(): void {
    this.close(KEY_ENDED, 'the key was removed or has expired');
  }

  /** Sends a ping; cuts a peer from which nothing came since the last one, or that takes no answers. */
  keepAlive(): void {
    const handedOver = this.socket.bytesWritten - this.socket.writableLength;
    const waitsForClient = this.socket.writableLength > 0;
    // Any bytes: the pong of a client that sends a large message comes behind it.
    const isHeard = this.socket.bytesRead > this.heardBytes;
    // While it is not read from, nothing is heard; whether it takes what was sent shows all the same.
    const isAlive = this.isPaused ? !waitsForClient || handedOver > this.handedOver : isHeard;
    this.handedOver = handedOver;
    // One that could not be heard has until the next time.
    this.heardBytes = this.isPaused ? -1 : this.socket.bytesRead;
    if (!isAlive) {
      this.cut();
      return;
    }
    if (this.webSocket.readyState === WebSocket.OPEN) this.webSocket.ping();
  }

  /** Ends the connection without a word. */
  cut(): void {
    this.webSocket.terminate();
  }

  /** The library has answered it. Pongs that nobody takes must not pile up either, and a small one costs more than its bytes. */
  private onPing(): void {
    if (this.socket.writableLength > WRITE_BYTES) this.pause();
  }

  private onChunk(bytes: number): void {
    INTAKE.count(bytes, this.intake);
    this.progress.on(bytes);
    this.partialBytes += bytes + CHUNK_BYTES;
    if (this.partialBytes > this.heldBytes + HOLD_BYTES) this.hold(2 * this.partialBytes);
    if (this.heldBytes > 0) this.heardMs = this.progress.heardMs;
    if (this.inbox.size === 0) return;
    this.pause();
    this.inbox.goOn();
  }

  /** Counts memory of messages; a connection for which there is none ends. */
  private hold(bytes: number): void {
    if (this.isClosing) return;
    this.heldBytes = bytes;
    if (!this.context.budget.hold(this, bytes)) this.close(TRY_AGAIN_LATER, overBudget().message);
  }

  /** Nothing came for seconds, and others need the memory of its message. */
  onEvicted(): void {
    this.cut();
  }

  private onMessage(data: Buffer, isBinary: boolean): void {
    this.partialBytes = 0;
    if (this.heldBytes > 0 && !this.isReading) this.release();
    // The library has copied its pieces together, just now.
    if (data.length > HOLD_BYTES) INTAKE.count(data.length, this.intake);
    if (!this.isClosing) this.inbox.take(data, isBinary);
  }

  /** Nothing is read while a message is being parsed, or the client leaves answers unread. */
  get isReady(): boolean {
    return !this.isReading && !this.isClosing && !this.isFull;
  }

  onInboxEmpty(): void {
    this.flushSoon();
  }

  onMessageRead(data: Buffer, isBinary: boolean): void {
    if (isBinary) this.takeOrRefuse(BINARY_FORMAT, data.length, data);
    else {
      this.isReading = true;
      this.jsonBytes = data.length;
      // Labels are kept as they came.
      readJson(data, this, MESSAGE_FIELDS, data.includes(LABEL));
      // A large message: the next ones wait with the client.
      if (this.isReading && !this.isClosing) {
        this.pause();
        this.heardMs = Infinity;
        this.hold(data.length);
      }
    }
  }

  onJson(value: unknown): void {
    this.takeOrRefuse(JSON_FORMAT, this.jsonBytes, value);
    this.readOn();
  }

  onJsonError({ code, message, cause }: ServiceError): void {
    const text = message.replace('the body', 'the message');
    const error = new ServiceError(code, text, undefined, { cause });
    this.refuse(JSON_FORMAT, undefined, undefined, this.told(error));
    this.readOn();
  }

  private release(): void {
    this.heldBytes = 0;
    this.heardMs = Infinity;
    this.context.budget.release(this);
  }

  isGone(): boolean {
    return this.isClosing;
  }

  /** After a message of JSON. */
  private readOn(): void {
    if (this.heldBytes > 0) this.release();
    this.isReading = false;
    if (this.isPaused) this.considerReading();
  }

  /** @param content a frame, or the value of JSON */
  private takeOrRefuse(format: MessageFormat, bytes: number, content: unknown): void {
    let id: number | undefined;
    try {
      const message =
        format === BINARY_FORMAT ? new BinaryMessage(content as Buffer) : new JsonMessage(content);
      id = message.id;
      this.take(message, format, bytes);
    } catch (thrown) {
      if (thrown instanceof GarbageError) this.close(thrown.closeCode, thrown.message);
      else this.refuse(format, id, undefined, this.told(thrown));
    }
  }

  private take(message: Message, format: MessageFormat, bytes: number): void {
    const { id, kind } = message;
    if (kind === 'cancel') {
      this.withdraw(id);
      return;
    }
    const { limits } = this.context;
    if (this.flights.has(id)) {
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
    const { objectiveUs, version, context, priority, launchClass } = request;
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
    const { queryId, label, loss, context } = request;
    const flight = new FeedbackFlight(this, format, message.id, input?.length ?? 0, application.name);
    this.depart(flight);
    const trace = this.context.tracing?.onMessage('feedback', message.traceparent);
    const name = application.name;
    const feedback: FeedbackRequest = { application: name, context, queryId, input, label, loss, trace };
    this.context.service.update(feedback, (outcome: FeedbackOutcome) => {
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
    this.flights.set(flight.id, flight);
    this.inputBytes += flight.inputBytes;
    if (this.inputBytes > this.context.limits.inputBytes) this.pause();
  }

  private withdraw(id: number): void {
    const flight = this.flights.get(id);
    if (flight?.queryId === undefined) return;
    this.flights.delete(id);
    this.inputBytes -= flight.inputBytes;
    this.context.service.cancel(flight.queryId);
    this.flushSoon();
  }

  private refuse(
    format: MessageFormat,
    id: number | undefined,
    application: string | undefined,
    error: WireError,
    part?: RefusedPart,
  ): void {
    this.onRefused(application, error.code, part);
    this.send(new RefusedMessage(format, id, error));
  }

  private send(outgoing: Outgoing): void {
    this.outgoing.push(outgoing);
    this.flushSoon();
  }

  private flushSoon(): void {
    if (this.willFlush) return;
    this.willFlush = true;
    this.context.flushSoon(this);
  }

  private write(): void {
    const { outgoing, socket } = this;
    if (outgoing.length === 0) return;
    this.outgoing = [];
    if (this.webSocket.readyState !== WebSocket.OPEN) return;
    const { frames } = this.context;
    for (const one of outgoing) {
      one.writeTo(frames);
      if (frames.bytes >= WRITE_BYTES) socket.write(frames.take());
    }
    if (frames.bytes > 0) socket.write(frames.take());
  }

  /** Reads on while the client takes its answers and its inputs have room. */
  private considerReading(): void {
    if (this.isClosing) return;
    this.inbox.goOn();
    if (this.isFull || this.isReading || this.isHeld || this.inbox.size > 0) this.pause();
    else if (this.isPaused) {
      this.isPaused = false;
      this.reading.resume();
    }
  }

  private get isFull(): boolean {
    const { inputBytes, outputBytes } = this.context.limits;
    return this.socket.writableLength > outputBytes || this.inputBytes > inputBytes;
  }

  private pause(): void {
    if (this.isPaused || this.isClosing) return;
    this.isPaused = true;
    this.reading.pause();
  }

  private close(code: number, reason: string): void {
    if (this.isClosing) return;
    this.write();
    this.isClosing = true;
    // Its close frame must be read.
    if (this.isPaused) this.reading.resume();
    this.isPaused = false;
    this.webSocket.close(code, reason);
    this.abandon();
  }

  /** Nobody waits any more. */
  private abandon(): void {
    this.isClosing = true;
    INTAKE.forget(this.intake);
    const flights = [...this.flights.values()];
    this.flights.clear();
    this.inbox.clear();
    this.release();
    this.inputBytes = 0;
    for (const { queryId } of flights) if (queryId !== undefined) this.context.service.cancel(queryId);
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
