/** What a socket counts, in bytes. */
export interface SocketCounts {
  readonly bytesRead: number;
  readonly bytesWritten: number;
  /** Of what was written, what is not handed over yet. */
  readonly writableLength: number;
}

/** Tells from one look to the next, by what a socket has moved, whether its peer is there still. */
export class PeerPulse {
  private heardBytes = -1;
  private handedOver = 0;

  constructor(private readonly socket: SocketCounts) {}

  /** @param isPaused the socket is not read from: nothing can be heard. */
  isAlive(isPaused: boolean): boolean {
    const { bytesRead, bytesWritten, writableLength } = this.socket;
    const handedOver = bytesWritten - writableLength;
    // Any bytes: the pong of a client that sends a large message comes behind it.
    const isHeard = bytesRead > this.heardBytes;
    // While it is not read from, nothing is heard; whether it takes what was sent shows all the same.
    const isAlive = isPaused ? writableLength === 0 || handedOver > this.handedOver : isHeard;
    this.handedOver = handedOver;
    // One that could not be heard has until the next time.
    this.heardBytes = isPaused ? -1 : bytesRead;
    return isAlive;
  }
}
