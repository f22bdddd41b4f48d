import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A connection that is read from as long as nobody holds it, whoever else resumes it. */
export class ReadConnection {
  private holds = 0;

  constructor(private readonly socket: Duplex) {
    // Node resumes it whenever it likes: when a request was read, when a body may go on, when answers were taken.
    socket.on('resume', () => {
      if (this.holds === 0) return;
      // Paused after it was resumed and before Node says so: its listener has begun to read again, and must hear it again.
      if (socket.readableFlowing === false) socket.emit('pause');
      else socket.pause();
    });
  }

  get isRead(): boolean {
    return !this.socket.isPaused();
  }

  /** Nothing more comes, not even of what the system has ready, until as many calls of `resume`. */
  pause(): void {
    this.holds += 1;
    this.socket.pause();
  }

  resume(): void {
    this.holds -= 1;
    if (this.holds === 0) this.socket.resume();
  }
}

/** All connections of the process, whatever interface they came to: they are read on the same thread. */
export class Reading {
  /** The oldest first. */
  private readonly connections = new Map<Duplex, ReadConnection>();
  private halted: ReadConnection[] = [];

  /** Must be called once for each connection. */
  watch(socket: Socket): void {
    this.connections.set(socket, new ReadConnection(socket));
    socket.once('close', () => this.connections.delete(socket));
  }

  of(socket: Duplex): ReadConnection {
    // One that is closed already is not read anyway.
    return this.connections.get(socket) ?? new ReadConnection(socket);
  }

  /** Nothing more is read in this turn of the event loop: what others sent would be taken apart in it, too. */
  halt(): void {
    if (this.halted.length > 0) return;
    for (const connection of this.connections.values()) {
      if (!connection.isRead) continue;
      connection.pause();
      this.halted.push(connection);
    }
    setImmediate(this.goOn);
  }

  private readonly goOn = (): void => {
    const { halted } = this;
    this.halted = [];
    for (const connection of halted) connection.resume();
  };
}

export const READING = new Reading();
