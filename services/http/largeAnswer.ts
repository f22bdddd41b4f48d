import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TURNS, type LongTask } from '../json/index.js';
import { piecesOf, type Content } from './content.js';

/** Of each connection, what of its answers was not handed to it yet. */
const pending = new WeakMap<Socket, number>();

/** Bytes of large answers that wait until the client of a connection has read what comes before them. */
export function pendingBytes(socket: Socket): number {
  return pending.get(socket) ?? 0;
}

/**
 * Writes a large answer whose head is written, in slices between which others are served, and no faster than its client
 * reads. To write it at once takes as long as all of its memory.
 */
export function writeInTurns(response: ServerResponse, content: Content, bytes: number): void {
  TURNS.run(new LargeAnswer(response, content, bytes));
}

class LargeAnswer implements LongTask {
  private readonly socket: Socket;
  private readonly pieces: Iterator<Uint8Array, void>;
  private isGone = false;

  constructor(
    private readonly response: ServerResponse,
    content: Content,
    private left: number,
  ) {
    this.socket = response.req.socket;
    this.pieces = piecesOf(content);
    this.count(left);
    response.once('close', this.onClose);
  }

  get remaining(): number {
    return this.left;
  }

  step(): boolean {
    if (this.isGone) return true;
    const { done, value } = this.pieces.next();
    if (done === true) {
      this.response.end();
      return true;
    }
    this.left -= value.length;
    this.count(-value.length);
    const { response } = this;
    if (response.write(value)) return false;
    // The client reads first.
    response.once('drain', this.goOn);
    return true;
  }

  /** Node writes what is handed over behind the step, so that turns do not count it: one piece a turn of each answer. */
  private readonly goOn = (): void => {
    setImmediate(() => TURNS.run(this));
  };

  private readonly onClose = (): void => {
    this.isGone = true;
    this.count(-this.left);
    this.left = 0;
  };

  private count(bytes: number): void {
    pending.set(this.socket, pendingBytes(this.socket) + bytes);
  }
}
