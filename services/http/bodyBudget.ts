import { ServiceError } from '../errors/index.js';

/** A body that got nothing for so long gives its memory to others when they need it. */
const STALLED_MS = 2_000;

/** Whoever holds memory for bytes that are still coming. */
export interface BudgetHolder {
  /** When its last bytes came, of `performance.now()`. */
  readonly heardMs: number;
  /** Others need the memory, and nothing came for long: gives it back. */
  onEvicted(): void;
}

/** How much of the memory for bodies is in use. */
export interface BudgetCounts {
  readonly bytes: number;
  readonly limitBytes: number;
  /** Bodies refused because there was no room. */
  readonly refused: number;
  /** Bodies ended in favour of others, because nothing came. */
  readonly evicted: number;
}

/** The memory that all bodies and messages under way may take together, over all interfaces. */
export class BodyBudget {
  private bytes = 0;
  private refused = 0;
  private evicted = 0;
  private readonly holders = new Map<BudgetHolder, number>();

  constructor(private readonly limitBytes = DEFAULT_BUFFERED_BYTES) {}

  /** Makes what a holder has `bytes` in all. @returns false when there is no room, also not that of stalled holders */
  hold(holder: BudgetHolder, bytes: number): boolean {
    const more = bytes - (this.holders.get(holder) ?? 0);
    if (more > 0 && this.bytes + more > this.limitBytes) this.makeRoom(more, holder);
    if (more > 0 && this.bytes + more > this.limitBytes) {
      this.refused += 1;
      return false;
    }
    this.bytes += more;
    this.holders.set(holder, bytes);
    return true;
  }

  release(holder: BudgetHolder): void {
    this.bytes -= this.holders.get(holder) ?? 0;
    this.holders.delete(holder);
  }

  counts(): BudgetCounts {
    return { bytes: this.bytes, limitBytes: this.limitBytes, refused: this.refused, evicted: this.evicted };
  }

  private makeRoom(more: number, asking: BudgetHolder): void {
    const latestMs = performance.now() - STALLED_MS;
    for (const holder of this.holders.keys()) {
      if (holder === asking || holder.heardMs > latestMs) continue;
      this.release(holder);
      this.evicted += 1;
      holder.onEvicted();
      if (this.bytes + more <= this.limitBytes) return;
    }
  }
}

export const DEFAULT_BUFFERED_BYTES = 256 * 1024 * 1024;

export function overBudget(): ServiceError {
  const message = 'the bodies of all clients that are under way take the memory that they may';
  return new ServiceError('too_much_buffered', message);
}

export function stalled(): ServiceError {
  const message = 'hardly anything of the body came for seconds, and others need its memory';
  return new ServiceError('request_timeout', message);
}
