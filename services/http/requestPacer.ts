import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { watchWaiting } from './pipelining.js';
import { READING, type ReadConnection } from './reading.js';

/** Bytes of answers that one connection may leave unread before no more are made for it. */
const UNREAD_BYTES = 256 * 1024;

/** Requests of one connection that wait before no more are read from it. */
const WAITING = 64;

/** Pipelined requests of all connections that are begun in one turn of the event loop: a few milliseconds. */
const BEGUN_IN_TURN = 32;

/** So many requests come in a turn before nothing more is read in it: Node takes some microseconds for each. */
const READ_IN_TURN = 512;

/** So many names and values of headers take as long as a request without any. */
const HEADER_PARTS = 16;

/** With more of them a request counts though nothing is pipelined. */
const MANY_HEADER_PARTS = 128;

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** How many requests of a connection may be under way when this one begins. */
export type Concurrency = (request: IncomingMessage) => number;

/** A connection that pipelines. */
interface Pipeline {
  readonly socket: Socket;
  readonly connection: ReadConnection;
  /** Not begun. */
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[];
  /** Begun, and their answers not read by the client. */
  readonly underWay: Set<ServerResponse>;
}

/**
 * Node hands over every request of what it reads, up to thousands in a packet, whether or not the client reads any answer.
 * Here they begin in turns: so many at once of a connection as it reads answers, and so many in a turn of all of them, a
 * connection after the other, so that nobody waits for what others pipeline. A request by itself begins at once.
 */
export class RequestPacer {
  private readonly pipelines = new WeakMap<Socket, Pipeline>();
  /** Those that have something to begin. */
  private readonly ready = new Set<Pipeline>();
  private received = 0;
  private begun = 0;
  private isTurning = false;

  constructor(
    private readonly listener: Listener,
    private readonly concurrency: Concurrency,
  ) {}

  /** Must be called once for each request, in their order. @param before the response to the one before it of its connection */
  receive(request: IncomingMessage, response: ServerResponse, before: ServerResponse | undefined): void {
    const known = this.pipelines.get(request.socket);
    // It is its turn at once, as nearly always.
    if (response.socket !== null && (known === undefined || known.waiting.length === 0)) {
      if (request.rawHeaders.length > MANY_HEADER_PARTS) this.weigh(request);
      this.listener(request, response);
      return;
    }
    const pipeline = known ?? this.open(request.socket, before);
    pipeline.waiting.push([request, response]);
    if (pipeline.waiting.length === WAITING) pipeline.connection.pause();
    this.weigh(request);
    this.begin(pipeline);
  }

  /** Of the turn; where it has had enough, nothing more is read in it. */
  private weigh(request: IncomingMessage): void {
    const before = this.received;
    this.received += 1 + request.rawHeaders.length / HEADER_PARTS;
    if (before < READ_IN_TURN && this.received >= READ_IN_TURN) READING.halt();
    this.turnSoon();
  }

  private open(socket: Socket, before: ServerResponse | undefined): Pipeline {
    const connection = READING.of(socket);
    const pipeline: Pipeline = { socket, connection, waiting: [], underWay: new Set() };
    this.pipelines.set(socket, pipeline);
    // It began at once, before anything was pipelined.
    if (before !== undefined && !before.closed) this.watch(pipeline, before);
    // Node makes an error for each request that is not answered, and would trace the stack of each.
    const { stackTraceLimit } = Error;
    socket.prependOnceListener('close', () => (Error.stackTraceLimit = 0));
    socket.once('close', () => {
      Error.stackTraceLimit = stackTraceLimit;
      pipeline.waiting.length = 0;
      this.ready.delete(pipeline);
    });
    return pipeline;
  }

  /** Begins what the connection and the turn have room for. */
  private begin(pipeline: Pipeline): void {
    while (this.hasRoom(pipeline)) {
      if (this.begun >= BEGUN_IN_TURN) {
        this.ready.add(pipeline);
        this.turnSoon();
        return;
      }
      this.beginOne(pipeline);
    }
  }

  private beginOne(pipeline: Pipeline): void {
    const [request, response] = pipeline.waiting.shift() as [IncomingMessage, ServerResponse];
    if (pipeline.waiting.length === WAITING - 1) pipeline.connection.resume();
    // It may have been refused for what came after it.
    if (response.writableEnded || response.destroyed) return;
    this.begun += 1;
    this.turnSoon();
    watchWaiting(pipeline.socket, response);
    this.watch(pipeline, response);
    this.listener(request, response);
  }

  private watch(pipeline: Pipeline, response: ServerResponse): void {
    pipeline.underWay.add(response);
    response.once('close', () => {
      pipeline.underWay.delete(response);
      this.begin(pipeline);
    });
  }

  private readonly turn = (): void => {
    this.isTurning = false;
    this.begun = 0;
    this.received = 0;
    for (const pipeline of this.ready) {
      if (this.begun >= BEGUN_IN_TURN) break;
      // Behind the others, where it has more.
      this.ready.delete(pipeline);
      if (!this.hasRoom(pipeline)) continue;
      this.ready.add(pipeline);
      this.beginOne(pipeline);
    }
  };

  private turnSoon(): void {
    if (this.isTurning) return;
    this.isTurning = true;
    setImmediate(this.turn);
  }

  private hasRoom({ waiting, underWay }: Pipeline): boolean {
    if (waiting.length === 0) return false;
    if (underWay.size === 0) return true;
    if (underWay.size >= this.concurrency(waiting[0][0])) return false;
    let unread = 0;
    for (const response of underWay) unread += response.writableLength;
    return unread < UNREAD_BYTES;
  }
}
