import { reasonOf } from '../../simulator/text/index.js';
import { RefusedError, UnreachableError } from './clientErrors.js';
import type {
  CallOptions,
  ClientInput,
  Feedback,
  FeedbackResult,
  Prediction,
  PredictOptions,
} from './clientTypes.js';
import type { ConnectionOptions } from './connectionOptions.js';
import { PendingCall, type CallResult } from './pendingCall.js';
import { BINARY_MESSAGES, JSON_MESSAGES, readAnswer, type MessageWriter } from './clientMessages.js';
import { DEFAULT_TIMEOUT_MS } from './httpCalls.js';
import { openSocket } from './nodeTransport.js';
import type { ClientSocket } from './transport.js';

export interface WebSocketClientOptions extends ConnectionOptions {
  /** Binary by default: it costs less at both ends. */
  readonly format?: 'binary' | 'json';
  /** Calls under way at once; more wait for their turn. As many as a server takes by default. */
  readonly maxInFlight?: number;
  /** Of a call without a limit of its own, and of connecting; 30 s by default. */
  readonly timeoutMs?: number;
}

const SERVER_IN_FLIGHT = 1024;

/**
 * Many predictions and feedbacks under way on one WebSocket, matched by id. Calls reject with a ClientError: RefusedError,
 * TimeoutError, or UnreachableError once the connection is gone; it is not opened again.
 */
export class WebSocketClient {
  /** Sent, by id. */
  private readonly pending = new Map<number, PendingCall>();
  /** Not sent yet, in order of their calls. */
  private readonly waiting = new Set<PendingCall>();
  private readonly messages: MessageWriter;
  private readonly maxInFlight: number;
  private readonly timeoutMs: number;
  private readonly closed: Promise<void>;
  private gone: UnreachableError | undefined;
  private nextId = 0;

  private constructor(
    private readonly socket: ClientSocket,
    options: WebSocketClientOptions,
  ) {
    this.messages = options.format === 'json' ? JSON_MESSAGES : BINARY_MESSAGES;
    this.maxInFlight = options.maxInFlight ?? SERVER_IN_FLIGHT;
    this.timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.closed = new Promise((resolve) =>
      socket.listen({
        onMessage: (data, isBinary) => this.onMessage(data, isBinary),
        onClose: (code, reason) => {
          this.onGone(`closed with ${code}: ${reason || 'no reason'}`);
          resolve();
        },
      }),
    );
  }

  /**
   * @param url `ws://HOST:PORT/ws`, or the address of the query interface
   * @throws RefusedError when the server does not take the connection, SecurityError, UnreachableError
   */
  static async connect(url: string, options: WebSocketClientOptions = {}): Promise<WebSocketClient> {
    const address = url.replace(/^http/, 'ws').replace(/\/*(\/ws)?\/*$/, '/ws');
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    return new WebSocketClient(await openSocket(address, { ...options, timeoutMs }), options);
  }

  /** Calls without an answer. */
  get inFlight(): number {
    return this.pending.size;
  }

  predict(application: string, input: ClientInput, options: PredictOptions = {}): Promise<Prediction> {
    return this.call(options, (id) => this.messages.predict(id, application, input, options));
  }

  feedback(application: string, feedback: Feedback, options: CallOptions = {}): Promise<FeedbackResult> {
    return this.call(options, (id) => this.messages.feedback(id, application, feedback));
  }

  /** Says goodbye and waits for the other side's; calls under way are rejected. */
  close(): Promise<void> {
    this.socket.close();
    return this.closed;
  }

  private call<T extends CallResult>(
    options: CallOptions,
    message: (id: number) => string | Buffer,
  ): Promise<T> {
    return new Promise<CallResult>((resolve, reject) => {
      const { signal, timeoutMs = this.timeoutMs } = options;
      const call = new PendingCall(message, resolve, reject);
      if (signal?.aborted === true) call.reject(signal.reason);
      else if (this.gone !== undefined) call.reject(this.gone);
      else {
        this.waiting.add(call);
        call.watch(signal, timeoutMs, (reason) => this.giveUp(call, reason));
        this.sendWaiting();
      }
    }) as Promise<T>;
  }

  private sendWaiting(): void {
    for (const call of this.waiting) {
      if (this.pending.size >= this.maxInFlight) break;
      this.waiting.delete(call);
      const id = this.freeId();
      let data: string | Buffer;
      try {
        data = call.message(id);
      } catch (error) {
        call.reject(error);
        continue;
      }
      call.id = id;
      this.pending.set(id, call);
      this.socket.send(data);
    }
  }

  private giveUp(call: PendingCall, reason: unknown): void {
    this.waiting.delete(call);
    const { id } = call;
    if (id !== undefined) {
      this.pending.delete(id);
      if (this.socket.isOpen) this.socket.send(this.messages.cancel(id));
    }
    call.reject(reason);
    this.sendWaiting();
  }

  /** Ids are used again after 2^32 calls, and never while in flight. */
  private freeId(): number {
    while (this.pending.has(this.nextId)) this.nextId = (this.nextId + 1) >>> 0;
    const id = this.nextId;
    this.nextId = (id + 1) >>> 0;
    return id;
  }

  private onMessage(data: Buffer, isBinary: boolean): void {
    let answer: ReturnType<typeof readAnswer>;
    try {
      answer = readAnswer(data, isBinary);
    } catch (error) {
      // Nothing after this can be trusted to be matched with its call.
      this.onGone(reasonOf(error));
      this.socket.drop();
      return;
    }
    const { id, result } = answer;
    const call = id === undefined ? undefined : this.pending.get(id);
    if (call?.id === undefined) return;
    this.pending.delete(call.id);
    if (result instanceof RefusedError) call.reject(result);
    else call.resolve(result);
    this.sendWaiting();
  }

  private onGone(why: string): void {
    this.gone ??= new UnreachableError(`the connection is gone: ${why}`);
    const calls = [...this.pending.values(), ...this.waiting];
    this.pending.clear();
    this.waiting.clear();
    for (const call of calls) call.reject(this.gone);
  }
}
