import type { BodyBudget, BudgetHolder } from './bodyBudget.js';
import { ProgressMark } from './progressMark.js';

/** The least that a body of several chunks takes. */
const SMALLEST_BYTES = 64 * 1024;

/** From here on the memory for all that the client announced is taken; the system gives it as it is written. */
const LARGE_BYTES = 512 * 1024;

/** Memory counts as bytes come, in steps of this size. */
const COUNTED_BYTES = 256 * 1024;

/** The bytes of a body as they come: in one buffer that grows, however small the chunks are. */
export class GrowingBody implements BudgetHolder {
  private readonly progress = new ProgressMark();
  private isComplete = false;
  private first: Buffer | undefined;
  private buffer: Buffer | undefined;
  private length = 0;
  private counted = 0;

  /** @param expected bytes in all; undefined: nobody said */
  constructor(
    private readonly budget: BodyBudget,
    private readonly expected: number | undefined,
    /** Others needed the room. */
    readonly onEvicted: () => void,
  ) {}

  get heardMs(): number {
    return this.isComplete ? Infinity : this.progress.heardMs;
  }

  /** @returns false when there is no room for more */
  add(chunk: Buffer): boolean {
    if (this.length === 0) {
      // Most bodies are one chunk, which is kept as it came. A first chunk in small pieces is not.
      this.first = chunk;
      this.length = chunk.length;
      return chunk.length === this.expected || this.budget.hold(this, chunk.length);
    }
    const length = this.length + chunk.length;
    this.progress.on(chunk.length);
    if (length > this.counted) {
      this.counted = length + COUNTED_BYTES;
      if (!this.budget.hold(this, this.counted)) return false;
    }
    let { buffer } = this;
    if (buffer === undefined || length > buffer.length) {
      const larger = Buffer.allocUnsafeSlow(this.sizeFor(length));
      (this.first ?? buffer)?.copy(larger, 0, 0, this.length);
      this.first = undefined;
      this.buffer = buffer = larger;
    }
    chunk.copy(buffer, this.length);
    this.length = length;
    return true;
  }

  /** Once it is clear that a large body comes, all that was said: to copy what came again costs others more time. */
  private sizeFor(length: number): number {
    const wanted = Math.max(SMALLEST_BYTES, 2 * length);
    if (this.expected === undefined) return wanted;
    return length > LARGE_BYTES
      ? Math.max(length, this.expected)
      : Math.max(length, Math.min(wanted, this.expected));
  }

  /** All that came; undefined: nothing did. It counts until `release`. */
  take(): Buffer | undefined {
    return this.first ?? this.buffer?.subarray(0, this.length);
  }

  /** All bytes came: it is no longer one that may have stalled. */
  complete(): void {
    this.isComplete = true;
  }

  release(): void {
    this.first = undefined;
    this.buffer = undefined;
    this.budget.release(this);
  }
}
