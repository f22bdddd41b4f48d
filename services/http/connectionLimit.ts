import type { Socket } from 'node:net';

/** How many connections a server has, and how many it has turned away. */
export interface ConnectionCounts {
  readonly open: number;
  readonly refused: number;
}

/** How long a connection over the limit may take to send the request that is answered 503. */
const SURPLUS_MS = 2_000;

/** Connections over the limit that are there only to be told so: beyond them they are dropped without a word. */
const RESERVE_SHARE = 1 / 8;
const LEAST_RESERVE = 16;

/** Connections that a server accepts, up to a limit; a few more are let in to be refused in words. */
export class ConnectionLimit {
  private readonly admitted = new WeakSet<object>();
  private readonly surplus = new WeakSet<object>();
  private open = 0;
  private refused = 0;

  constructor(private readonly most: number) {}

  /** Open connections beyond which the system's own limit takes over, handshakes of TLS included. */
  get hardLimit(): number {
    return this.most + Math.max(LEAST_RESERVE, Math.ceil(this.most * RESERVE_SHARE));
  }

  counts(): ConnectionCounts {
    return { open: this.open, refused: this.refused };
  }

  admit(socket: Socket): void {
    this.open += 1;
    this.admitted.add(socket);
    let timer: NodeJS.Timeout | undefined;
    if (this.open > this.most) {
      this.refused += 1;
      this.surplus.add(socket);
      timer = setTimeout(() => socket.destroy(), SURPLUS_MS);
    }
    socket.once('close', () => {
      this.open -= 1;
      clearTimeout(timer);
    });
  }

  /** One that was dropped without a word. */
  onDropped(): void {
    this.refused += 1;
  }

  /** Whether the connection can carry requests: one of TLS from its handshake on. */
  hasAdmitted(socket: object): boolean {
    return this.admitted.has(socket);
  }

  /** Whether the connection is there to be refused. */
  isSurplus(socket: object): boolean {
    return this.surplus.has(socket);
  }
}
