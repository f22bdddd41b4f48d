import type { Writable } from 'node:stream';
import { CONTROL, DATA, envelopeHead, HEAD_BYTES, PIECE_BYTES } from './envelope.js';

/** The socket holds no more than about so much: what waits, waits here, where lines take turns. */
const SOCKET_BYTES = 256 * 1024;
/** Written together; fewer bytes are copied into one piece. */
const WRITE_BYTES = 64 * 1024;
const COPIED_BYTES = 16 * 1024;

interface LineQueue {
  readonly frames: Uint8Array[];
  /** Of the first frame, sent already. */
  sent: number;
}

/**
 * What waits to be written to a connection. Messages go first; lines take turns, a piece each, so that a long frame of one
 * holds up none of the others; a line's own frames keep their order.
 */
export class Outbox {
  private readonly messages: Buffer[] = [];
  /** In the order of their turns. */
  private readonly lines = new Map<number, LineQueue>();
  private isScheduled = false;
  private bytes = 0;

  constructor(private readonly socket: Writable) {
    socket.on('drain', () => this.flush());
  }

  /** Bytes that wait here. */
  get waiting(): number {
    return this.bytes;
  }

  get hasMessages(): boolean {
    return this.messages.length > 0;
  }

  message(text: string): void {
    const message = Buffer.from(text);
    this.messages.push(message);
    this.bytes += message.length;
    this.schedule();
  }

  frame(line: number, frame: Uint8Array): void {
    const queue = this.lines.get(line);
    if (queue === undefined) this.lines.set(line, { frames: [frame], sent: 0 });
    else queue.frames.push(frame);
    this.bytes += frame.length;
    this.schedule();
  }

  /** Bytes of a line that wait here. */
  waitingOf(line: number): number {
    const queue = this.lines.get(line);
    return queue === undefined ? 0 : bytesOf(queue);
  }

  /** Nothing of the line that waits is written any more. */
  forget(line: number): void {
    const queue = this.lines.get(line);
    if (queue === undefined) return;
    this.bytes -= bytesOf(queue);
    this.lines.delete(line);
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    // What the same event sends goes out together.
    queueMicrotask(() => {
      this.isScheduled = false;
      this.flush();
    });
  }

  private flush(): void {
    const { socket } = this;
    while (socket.writable && socket.writableLength < SOCKET_BYTES) {
      const parts: Uint8Array[] = [];
      let size = 0;
      for (let added = this.next(parts); added > 0; added = this.next(parts)) {
        size += added;
        if (size >= WRITE_BYTES) break;
      }
      if (size === 0) return;
      if (size <= COPIED_BYTES) socket.write(Buffer.concat(parts, size));
      else {
        socket.cork();
        for (const part of parts) socket.write(part);
        socket.uncork();
      }
    }
  }

  /** Adds the next envelope. @returns its bytes; 0: there is none */
  private next(parts: Uint8Array[]): number {
    const message = this.messages.shift();
    if (message !== undefined) {
      this.bytes -= message.length;
      parts.push(envelopeHead(CONTROL, 0, message.length), message);
      return HEAD_BYTES + message.length;
    }
    for (const [line, queue] of this.lines) {
      const [frame] = queue.frames;
      const piece = frame.subarray(queue.sent, queue.sent + PIECE_BYTES);
      queue.sent += piece.length;
      this.bytes -= piece.length;
      parts.push(envelopeHead(DATA, line, piece.length), piece);
      if (queue.sent === frame.length) {
        queue.frames.shift();
        queue.sent = 0;
      }
      this.lines.delete(line);
      if (queue.frames.length > 0) this.lines.set(line, queue);
      return HEAD_BYTES + piece.length;
    }
    return 0;
  }
}

function bytesOf({ frames, sent }: LineQueue): number {
  return frames.reduce((sum, { length }) => sum + length, -sent);
}
