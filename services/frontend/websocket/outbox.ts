import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { Outgoing } from './flights.js';
import type { FrameWriter } from './frameWriter.js';

/** A piece of this size is written before more is laid beside it. */
export const WRITE_BYTES = 64 * 1024;

/** What one connection has to say: what comes together leaves in one write. */
export class Outbox {
  private outgoing: Outgoing[] = [];
  private willFlush = false;

  /** @param flushLater must see to it that `write` is called once what happens now has happened. */
  constructor(
    private readonly webSocket: WebSocket,
    private readonly socket: Socket,
    private readonly frames: FrameWriter,
    private readonly flushLater: () => void,
  ) {}

  send(outgoing: Outgoing): void {
    this.outgoing.push(outgoing);
    this.flushSoon();
  }

  /** Whether there is something to say or not. */
  flushSoon(): void {
    if (this.willFlush) return;
    this.willFlush = true;
    this.flushLater();
  }

  /** What was asked for by `flushSoon`. */
  flush(): void {
    this.willFlush = false;
    this.write();
  }

  /** At once. */
  write(): void {
    const { outgoing, socket, frames } = this;
    if (outgoing.length === 0) return;
    this.outgoing = [];
    if (this.webSocket.readyState !== WebSocket.OPEN) return;
    for (const one of outgoing) {
      one.writeTo(frames);
      if (frames.bytes >= WRITE_BYTES) socket.write(frames.take());
    }
    if (frames.bytes > 0) socket.write(frames.take());
  }
}
