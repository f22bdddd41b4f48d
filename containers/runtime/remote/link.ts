import type { Socket } from 'node:net';
import { ProtocolError } from '../../protocol/index.js';
import { EnvelopeReader } from './envelope.js';
import { LinkError } from './linkError.js';
import { Outbox } from './outbox.js';

export interface LinkListener {
  /** A message, as JSON says it. @throws ProtocolError, which ends the link */
  onMessage(message: unknown): void;
  /** A part of a line's stream. @throws ProtocolError, which ends the link */
  onData(line: number, bytes: Uint8Array): void;
  /** Nothing goes either way any more. Called once. */
  onEnd(error: LinkError): void;
}

/** Of a message before its sender is known, and after. */
const MAX_FIRST_MESSAGE_BYTES = 16 * 1024;
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** One end of a connection between a frontend and a node. */
export class Link {
  readonly outbox: Outbox;
  private readonly reader: EnvelopeReader;
  private isEnded = false;
  private silentTicks = 0;
  private watch: NodeJS.Timeout | undefined;
  private failure: string | undefined;

  /** @param peer for messages, until more is known of it */
  constructor(
    private readonly socket: Socket,
    public peer: string,
    private readonly listener: LinkListener,
  ) {
    this.outbox = new Outbox(socket);
    this.reader = new EnvelopeReader(
      {
        onControl: (text) => listener.onMessage(parsed(text)),
        onData: (line, bytes) => listener.onData(line, bytes),
      },
      MAX_FIRST_MESSAGE_BYTES,
    );
    socket.setNoDelay(true);
    socket.on('data', (piece) => this.onPiece(piece));
    socket.on('error', ({ message }) => (this.failure = message));
    // Half of a connection is of no use to anybody.
    socket.on('end', () => this.end(new LinkError('connection', `${this.peer} closed the connection`)));
    socket.on('close', () =>
      this.end(
        new LinkError('connection', `the connection to ${this.peer} broke: ${this.failure ?? 'closed'}`),
      ),
    );
  }

  get ended(): boolean {
    return this.isEnded;
  }

  /** Ticks of `watchSilence` since anything came. */
  get silence(): number {
    return this.silentTicks;
  }

  send(message: object): void {
    if (!this.isEnded) this.outbox.message(JSON.stringify(message));
  }

  /** The other side is known: its messages may be longer. */
  trust(): void {
    this.reader.maxControlBytes = MAX_MESSAGE_BYTES;
  }

  /**
   * Ends the link when nothing has come for so many ticks in a row. Ticks and no times: whoever is stopped for a while misses
   * ticks, and takes nobody else for silent.
   */
  watchSilence(everyMs: number, ticks: number): void {
    clearInterval(this.watch);
    this.silentTicks = 0;
    this.watch = setInterval(() => {
      this.silentTicks += 1;
      if (this.silentTicks < ticks) return;
      this.end(new LinkError('silent', `${this.peer} said nothing for ${(everyMs * ticks) / 1000} s`));
    }, everyMs);
    this.watch.unref();
  }

  /** @param lastWords written before the connection is closed, where it still takes them */
  end(error: LinkError, lastWords?: object): void {
    if (this.isEnded) return;
    if (lastWords !== undefined) this.outbox.message(JSON.stringify(lastWords));
    this.isEnded = true;
    clearInterval(this.watch);
    if (lastWords === undefined) this.socket.destroy();
    else {
      // What waits is handed to the socket in a microtask.
      queueMicrotask(() => this.socket.end(() => this.socket.destroy()));
      setTimeout(() => this.socket.destroy(), LAST_WORDS_MS).unref();
    }
    this.listener.onEnd(error);
  }

  private onPiece(piece: Buffer): void {
    if (this.isEnded) return;
    this.silentTicks = 0;
    try {
      this.reader.push(piece);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.end(
        new LinkError('protocol', `${this.peer} sent what is no part of the protocol: ${error.message}`),
      );
    }
  }
}

const LAST_WORDS_MS = 1000;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new ProtocolError('a message that is not JSON', { cause });
  }
}
