/** What each connection may always hold: messages of the usual size are never refused for the sake of others. */
const FREE_BYTES = 256 * 1024;

/** Memory for messages that are not complete yet, shared by all connections. */
export class MemoryBudget {
  private heldBytes = 0;

  /** @param maxBytes beyond what each connection has of its own. */
  constructor(private readonly maxBytes: number) {}

  get held(): number {
    return this.heldBytes;
  }

  reservation(): Reservation {
    return new Reservation((bytes) => {
      if (bytes > 0 && this.heldBytes + bytes > this.maxBytes) return false;
      this.heldBytes += bytes;
      return true;
    });
  }
}

/** One connection's part of a budget. */
export class Reservation {
  private shared = 0;

  /** @param change takes bytes, or gives them back where they are negative; false where there are not so many. */
  constructor(private readonly change: (bytes: number) => boolean) {}

  /** @returns whether the connection may hold so many bytes now; if not, nothing changes. */
  hold(bytes: number): boolean {
    const wanted = Math.max(0, bytes - FREE_BYTES);
    if (wanted === this.shared) return true;
    if (!this.change(wanted - this.shared)) return false;
    this.shared = wanted;
    return true;
  }
}
