import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { AccessKey } from '../../access/index.js';
import { overBudget } from '../../http/index.js';
import type { GarbageError } from '../../wire/index.js';
import type { ConnectionContext } from './connectionContext.js';
import { Inbox, type InboxOwner } from './inbox.js';
import { MessageExchange, type MessageHost } from './messageExchange.js';
import { HOLD_BYTES, MessageMemory, type MemoryHost } from './messageMemory.js';
import { MessageParser, type ParserHost } from './messageParser.js';
import { Outbox, WRITE_BYTES } from './outbox.js';
import { PeerPulse } from './peerPulse.js';
import { ReadingPace } from './readingPace.js';

/** The close code of a connection whose key is good no more: 401, among the codes that applications may choose. */
const KEY_ENDED = 4401;

/** The close code for what another try may get: there is no memory for the message now. */
const TRY_AGAIN_LATER = 1013;

/** One WebSocket, from its first byte until it is closed: messages in, answers out as they come. */
export class Connection implements InboxOwner, ParserHost, MemoryHost, MessageHost {
  private readonly inbox = new Inbox(this);
  private readonly pace: ReadingPace;
  private readonly memory: MessageMemory;
  private readonly outbox: Outbox;
  private readonly exchange: MessageExchange;
  private readonly parser: MessageParser;
  private readonly pulse: PeerPulse;
  private isClosing = false;

  /** @param key whose connection it is, where that matters. */
  constructor(
    private readonly context: ConnectionContext,
    private readonly webSocket: WebSocket,
    private readonly socket: Socket,
    key: AccessKey | undefined,
  ) {
    this.pace = new ReadingPace(socket, () => this.considerReading());
    this.memory = new MessageMemory(context.budget, this);
    this.outbox = new Outbox(webSocket, socket, context.frames, () => context.flushSoon(this));
    this.exchange = new MessageExchange(context, key, this.outbox, this);
    this.parser = new MessageParser(this.exchange, this);
    this.pulse = new PeerPulse(socket);
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

  /** Writes what has come together; closes when the frontend drains and nothing is left to answer. */
  flush(): void {
    this.outbox.flush();
    if (this.context.isDraining()) this.closeWhenIdle();
    else this.considerReading();
  }

  closeWhenIdle(): void {
    if (this.exchange.inFlight > 0 || this.parser.isBusy || this.inbox.size > 0) return;
    this.close(1001, 'the server is draining');
  }

  /** Its key was removed or has expired. */
  endAccess(): void {
    this.close(KEY_ENDED, 'the key was removed or has expired');
  }

  /** Sends a ping; cuts a peer from which nothing came since the last one, or that takes no answers. */
  keepAlive(): void {
    if (!this.pulse.isAlive(this.pace.isPaused)) this.cut();
    else if (this.webSocket.readyState === WebSocket.OPEN) this.webSocket.ping();
  }

  onEvicted(): void {
    this.cut();
  }

  onNoMemory(): void {
    this.close(TRY_AGAIN_LATER, overBudget().message);
  }

  onInputsFull(): void {
    this.pace.pause();
  }

  onGarbage({ closeCode, message }: GarbageError): void {
    this.close(closeCode, message);
  }

  /** Nothing is read while a message is being parsed, or the client leaves answers unread. */
  get isReady(): boolean {
    return !this.parser.isBusy && !this.isClosing && !this.isFull;
  }

  onInboxEmpty(): void {
    this.outbox.flushSoon();
  }

  onMessageRead(data: Buffer, isBinary: boolean): void {
    this.parser.parse(data, isBinary);
  }

  /** The next ones wait with the client. */
  onLongMessage(bytes: number): void {
    this.pace.pause();
    this.memory.holdWhole(bytes);
  }

  onParsed(): void {
    this.memory.release();
    if (this.pace.isPaused) this.considerReading();
  }

  /** The library has answered it. Pongs that nobody takes must not pile up either, and a small one costs more than its bytes. */
  private onPing(): void {
    if (this.socket.writableLength > WRITE_BYTES) this.pace.pause();
  }

  private onChunk(bytes: number): void {
    this.pace.count(bytes);
    this.memory.onChunk(bytes);
    if (this.inbox.size === 0) return;
    this.pace.pause();
    this.inbox.goOn();
  }

  private onMessage(data: Buffer, isBinary: boolean): void {
    this.memory.onMessage();
    // The library has copied its pieces together, just now.
    if (data.length > HOLD_BYTES) this.pace.count(data.length);
    if (!this.isClosing) this.inbox.take(data, isBinary);
  }

  /** Reads on while the client takes its answers and its inputs have room. */
  private considerReading(): void {
    if (this.isClosing) return;
    this.inbox.goOn();
    this.pace.set(!this.isFull && !this.parser.isBusy && this.inbox.size === 0);
  }

  private get isFull(): boolean {
    return this.socket.writableLength > this.context.limits.outputBytes || this.exchange.isFull;
  }

  private close(code: number, reason: string): void {
    if (this.isClosing) return;
    this.outbox.write();
    this.isClosing = true;
    this.pace.drain();
    this.webSocket.close(code, reason);
    this.abandon();
  }

  /** Ends the connection without a word. */
  private cut(): void {
    this.webSocket.terminate();
  }

  /** Nobody waits any more. */
  private abandon(): void {
    this.isClosing = true;
    this.pace.end();
    this.inbox.clear();
    this.parser.end();
    this.memory.end();
    this.exchange.abandon();
  }
}
