import type { Socket } from 'node:net';
import { pendingBytes } from './largeAnswer.js';

/** How often it is looked at. */
const SWEEP_MS = 1000;

/** A client that has taken nothing for so many looks has stopped reading. */
const STALLED_SWEEPS = 2;

/** Less than this of a connection does not count. */
const SMALL_BYTES = 64 * 1024;

interface Reader {
  taken: number;
  stalledSweeps: number;
}

/**
 * Answers that clients have asked for and do not read: of one connection they are bounded, by what is asked for it at a
 * time. Where those of all connections together take more memory than they may, the connections that hold most of it and
 * whose clients have read nothing for seconds are ended.
 */
export class UnreadAnswers {
  private readonly readers = new Map<Socket, Reader>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly limitBytes: number,
    sweepMs = SWEEP_MS,
  ) {
    this.timer = setInterval(() => this.sweep(), sweepMs).unref();
  }

  /** Must be called once for each connection. */
  watch(socket: Socket): void {
    this.readers.set(socket, { taken: 0, stalledSweeps: 0 });
    socket.once('close', () => this.readers.delete(socket));
  }

  close(): void {
    clearInterval(this.timer);
  }

  private sweep(): void {
    let bytes = 0;
    const stalled: (readonly [Socket, number])[] = [];
    for (const [socket, reader] of this.readers) {
      const { writableLength } = socket;
      const unread = writableLength + pendingBytes(socket);
      const taken = socket.bytesWritten - writableLength;
      const isStalled = unread >= SMALL_BYTES && taken === reader.taken;
      reader.taken = taken;
      reader.stalledSweeps = isStalled ? reader.stalledSweeps + 1 : 0;
      bytes += unread;
      if (reader.stalledSweeps >= STALLED_SWEEPS) stalled.push([socket, unread]);
    }
    if (bytes <= this.limitBytes) return;
    stalled.sort(([, one], [, other]) => other - one);
    for (const [socket, unread] of stalled) {
      if (bytes <= this.limitBytes) return;
      bytes -= unread;
      socket.destroy();
    }
  }
}
