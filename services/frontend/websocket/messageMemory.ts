import { ProgressMark, type BodyBudget, type BudgetHolder } from '../../http/index.js';

/** What a chunk takes beside its bytes while its message is not whole: the library keeps each. */
const CHUNK_BYTES = 360;

/** A message of less does not count. */
export const HOLD_BYTES = 64 * 1024;

/** Whose messages they are. */
export interface MemoryHost {
  /** There is none for the message. */
  onNoMemory(): void;
  /** Nothing came for seconds, and others need the memory of the message. */
  onEvicted(): void;
}

/** Counts the memory of one connection's large message, while it comes and while it is parsed, in what all may take together. */
export class MessageMemory implements BudgetHolder {
  heardMs = Infinity;
  private readonly progress = new ProgressMark();
  /** Of a message that is not whole yet: what came of it, as it lies in the library. */
  private partialBytes = 0;
  private heldBytes = 0;
  /** What is held is that of a message that is being parsed. */
  private isWhole = false;
  private isEnded = false;

  constructor(
    private readonly budget: BodyBudget,
    private readonly host: MemoryHost,
  ) {}

  onChunk(bytes: number): void {
    this.progress.on(bytes);
    this.partialBytes += bytes + CHUNK_BYTES;
    if (this.partialBytes > this.heldBytes + HOLD_BYTES) this.hold(2 * this.partialBytes);
    if (this.heldBytes > 0) this.heardMs = this.progress.heardMs;
  }

  /** The library has put a message together. */
  onMessage(): void {
    this.partialBytes = 0;
    if (!this.isWhole) this.release();
  }

  /** Of a message that is parsed in turns. Nobody waits for its client. */
  holdWhole(bytes: number): void {
    this.heardMs = Infinity;
    this.isWhole = true;
    this.hold(bytes);
  }

  release(): void {
    this.isWhole = false;
    if (this.heldBytes === 0) return;
    this.heldBytes = 0;
    this.heardMs = Infinity;
    this.budget.release(this);
  }

  /** Whatever comes from now on is passed over. */
  end(): void {
    this.isEnded = true;
    this.release();
  }

  onEvicted(): void {
    this.host.onEvicted();
  }

  private hold(bytes: number): void {
    if (this.isEnded) return;
    this.heldBytes = bytes;
    if (!this.budget.hold(this, bytes)) this.host.onNoMemory();
  }
}
