import type { Socket } from 'node:net';
import type { Reservation } from './memoryBudget.js';
import { PieceQueue } from './pieceQueue.js';
import {
  checkFirstByte,
  checkGreetingRest,
  checkReady,
  checkSignature,
  checkTypeNumber,
  COMMAND,
  commandBytes,
  GREETING_REST_BYTES,
  greetingRest,
  LONG,
  messageBytes,
  MORE,
  openedVersion,
  opening,
  OPENING_BYTES,
  readCommand,
  readProperties,
  readyCommand,
  typeAndIdentity,
} from './wire.js';
import { ZmtpError } from './zmtpError.js';

export interface ZmtpListener {
  /** The handshake is over: messages go both ways. */
  onReady(): void;
  /** @param frames views of memory that is nobody else's. */
  onMessage(frames: readonly Buffer[]): void;
  /** A command, which asks nothing of whoever listens, and has cost a look. */
  onCommand(): void;
  /** Nothing goes either way any more. Called once, with what happened, as something that the peer did. */
  onEnd(reason: string): void;
}

/** Of one message. */
export interface MessageLimits {
  readonly frames: number;
  /** Of all its frames together. */
  readonly bytes: number;
}

/** Why a connection ends whose peer has closed it. */
export const CLOSED_BY_PEER = 'it closed its connection';

/** What a frame costs beside its bytes. */
const FRAME_OVERHEAD_BYTES = 256;
const MAX_COMMAND_BYTES = 8192;

type State = 'opening' | 'greeting' | 'type' | 'identity' | 'ready' | 'open' | 'ended';

/**
 * The ROUTER's end of one TCP connection with a ZeroMQ socket: ZMTP 3.x with the NULL mechanism, and 2.0 for peers of libzmq 3.
 * A connection is a session here: of identities, which a ROUTER of libzmq keeps, nothing is needed.
 */
export class ZmtpConnection {
  private state: State = 'opening';
  private version: 2 | 3 = 3;
  private readonly queue = new PieceQueue();
  /** Of the message that is being read. */
  private frames: Buffer[] = [];
  private frameBytes = 0;

  /**
   * @param limits asked for each message.
   * @param memory for what is not complete.
   */
  constructor(
    private readonly socket: Socket,
    private readonly listener: ZmtpListener,
    private readonly limits: () => MessageLimits,
    private readonly memory: Reservation,
  ) {
    socket.setNoDelay(true);
    let failure: string | undefined;
    socket.on('data', (piece: Buffer) => this.onPiece(piece));
    socket.on('error', ({ message }) => (failure = message));
    // Half of a connection is of no use to anybody.
    socket.on('end', () => this.end(CLOSED_BY_PEER));
    socket.on('close', () =>
      this.end(failure === undefined ? CLOSED_BY_PEER : `its connection broke: ${failure}`),
    );
    socket.write(opening());
  }

  get isEnded(): boolean {
    return this.state === 'ended';
  }

  get isReady(): boolean {
    return this.state === 'open';
  }

  /** A message, or a handshake, has begun and is not complete. */
  get isPartial(): boolean {
    return this.state !== 'open' || this.frames.length > 0 || this.queue.length > 0;
  }

  /** Bytes that the peer has not taken yet. */
  get unsentBytes(): number {
    return this.socket.writableLength;
  }

  /** Copies the frames. */
  send(frames: readonly Uint8Array[]): void {
    if (this.state === 'open') this.socket.write(messageBytes(frames));
  }

  /** Reads nothing more until `resume`: what the peer sends fills its own buffers. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  end(reason: string): void {
    if (this.state === 'ended') return;
    this.state = 'ended';
    this.memory.hold(0);
    this.frames = [];
    this.socket.destroy();
    this.listener.onEnd(reason);
  }

  private onPiece(piece: Buffer): void {
    if (this.isEnded) return;
    this.queue.push(piece);
    try {
      while (this.step());
    } catch (error) {
      if (!(error instanceof ZmtpError)) throw error;
      this.end(error.message);
      return;
    }
    if (this.isEnded) return;
    const held = this.queue.length + this.frameBytes + this.frames.length * FRAME_OVERHEAD_BYTES;
    if (!this.memory.hold(held)) this.end('there is no memory left for its message beside those of others');
  }

  /** @returns whether there may be more to read. @throws ZmtpError */
  private step(): boolean {
    switch (this.state) {
      case 'opening':
        return this.readOpening();
      case 'greeting': {
        if (this.queue.length < GREETING_REST_BYTES) return false;
        checkGreetingRest(this.queue.take(GREETING_REST_BYTES));
        this.socket.write(readyCommand());
        this.state = 'ready';
        return true;
      }
      case 'type':
        if (this.queue.length < 1) return false;
        checkTypeNumber(this.queue.take(1)[0]);
        this.state = 'identity';
        return true;
      case 'identity':
      case 'ready':
      case 'open':
        return this.readFrame();
      case 'ended':
        return false;
    }
  }

  private readOpening(): boolean {
    if (this.queue.length === 0) return false;
    checkFirstByte(this.queue.byteAt(0));
    if (this.queue.length < OPENING_BYTES) return false;
    const peer = this.queue.take(OPENING_BYTES);
    checkSignature(peer);
    this.version = openedVersion(peer);
    if (this.version === 3) this.socket.write(greetingRest());
    else this.socket.write(typeAndIdentity());
    this.state = this.version === 3 ? 'greeting' : 'type';
    return true;
  }

  private readFrame(): boolean {
    const { queue } = this;
    if (queue.length < 2) return false;
    const flags = queue.byteAt(0);
    const isCommand = (flags & COMMAND) !== 0;
    if (
      flags > (this.version === 3 ? MORE | LONG | COMMAND : MORE | LONG) ||
      (isCommand && (flags & MORE) !== 0)
    ) {
      throw new ZmtpError(`it sent a frame with flags ${flags}, which there are not`);
    }
    const isLong = (flags & LONG) !== 0;
    if (isLong && queue.length < 9) return false;
    const length = isLong ? longLength(queue) : queue.byteAt(1);
    const headerBytes = isLong ? 9 : 2;
    if (isCommand || this.state !== 'open') {
      if (length > MAX_COMMAND_BYTES)
        throw new ZmtpError(`it sent a command of ${length} bytes: ${MAX_COMMAND_BYTES} are the most`);
    } else {
      this.checkRoom(length);
    }
    if (queue.length < headerBytes + length) return false;
    queue.take(headerBytes);
    const body = queue.take(length);
    if (this.state === 'open') {
      if (isCommand) this.onCommand(body);
      else this.onFrame(body, (flags & MORE) !== 0);
    } else this.onHandshake(body, isCommand);
    return true;
  }

  /** @throws ZmtpError before anything of a frame that is too long is kept */
  private checkRoom(length: number): void {
    const { frames, bytes } = this.limits();
    if (this.frames.length >= frames) throw new ZmtpError(`it sent a message of more than ${frames} frames`);
    if (this.frameBytes + length > bytes)
      throw new ZmtpError(`it sent a message of more than ${bytes} bytes`);
  }

  private onHandshake(body: Buffer, isCommand: boolean): void {
    // The identity of a peer of ZMTP 2.0 says nothing.
    if (this.state !== 'identity') {
      if (!isCommand) throw new ZmtpError('it sent a message before READY');
      const { name, data } = readCommand(body);
      if (name === 'ERROR')
        throw new ZmtpError(`it refused the connection: ${data.toString('latin1', 1, 256)}`);
      if (name !== 'READY') throw new ZmtpError(`it sent the command ${JSON.stringify(name)} before READY`);
      checkReady(readProperties(data));
    }
    this.state = 'open';
    this.listener.onReady();
  }

  private onCommand(body: Buffer): void {
    const { name, data } = readCommand(body);
    // Two bytes say how long the peer waits.
    if (name === 'PING') this.socket.write(commandBytes('PONG', data.subarray(2, 18)));
    this.listener.onCommand();
  }

  private onFrame(body: Buffer, hasMore: boolean): void {
    this.frames.push(body);
    this.frameBytes += body.length;
    if (hasMore) return;
    const { frames } = this;
    this.frames = [];
    this.frameBytes = 0;
    this.listener.onMessage(frames);
  }
}

function longLength(queue: PieceQueue): number {
  let length = 0;
  // More than 2^53 loses its last bits, and is too long in any case.
  for (let at = 1; at < 9; at++) length = length * 256 + queue.byteAt(at);
  return length;
}
