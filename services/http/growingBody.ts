import type { BodyBudget, BudgetHolder } from './bodyBudget.js';

/** The least that a body of several chunks takes. */
const SMALLEST_BYTES = 64 * 1024;

/** The bytes of a body as they come: in one buffer that grows, however small the chunks are. */
export class GrowingBody implements BudgetHolder {
  heardMs = 0;
  private first: Buffer | undefined;
  private buffer: Buffer | undefined;
  private length = 0;

  /** @param expected bytes in all; undefined: nobody said */
  constructor(
    private readonly budget: BodyBudget,
    private readonly expected: number | undefined,
    /** Others needed the room. */
    readonly onEvicted: () => void,
  ) {}

  get bytes(): number {
    return this.length;
  }

  /** @returns false when there is no room for more */
  add(chunk: Buffer): boolean {
    if (this.length === 0) {
      // Most bodies are one chunk, which is kept as it came. A first chunk in small pieces is not.
      this.first = chunk;
      this.length = chunk.length;
      return true;
    }
    const length = this.length + chunk.length;
    this.heardMs = performance.now();
    let { buffer } = this;
    if (buffer === undefined || length > buffer.length) {
      const wanted = Math.max(SMALLEST_BYTES, 2 * length);
      const size = this.expected === undefined ? wanted : Math.max(length, Math.min(wanted, this.expected));
      if (!this.budget.hold(this, size)) return false;
      const larger = Buffer.allocUnsafeSlow(size);
      (this.first ?? buffer)?.copy(larger, 0, 0, this.length);
      this.first = undefined;
      this.buffer = buffer = larger;
    }
    chunk.copy(buffer, this.length);
    this.length = length;
    return true;
  }

  /** All that came; undefined: nothing did. It counts until `release`. */
  take(): Buffer | undefined {
    return this.first ?? this.buffer?.subarray(0, this.length);
  }

  /** Counts the decoded body in place of what was sent. @returns false when there is no room */
  becomes(bytes: number): boolean {
    this.heardMs = Infinity;
    this.first = undefined;
    this.buffer = undefined;
    return this.budget.hold(this, bytes);
  }

  /** All bytes came: it is no longer one that may have stalled. */
  complete(): void {
    this.heardMs = Infinity;
  }

  release(): void {
    this.first = undefined;
    this.buffer = undefined;
    this.budget.release(this);
  }
}
