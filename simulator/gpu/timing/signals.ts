/** What a block waits for before it goes on, and what it tells others after that: who waits for that waits for all before it. */
export class Signals {
  /** Addresses that it looks at until somebody has written them, and the latency of a look. */
  readonly awaited = new Map<number, number>();
  /** Addresses that it writes only once it has seen what it waited for, and how many cycles later. */
  readonly raised = new Map<number, number>();
  /** Words that it stores to once it has seen what it waited for in them, how often, and how many cycles later in all. */
  readonly handedOn = new Map<number, { times: number; cycles: number }>();
  private readonly before = new Set<number>();
  private hasTurn = false;
  private seenAt = -1;

  /** @param latency from the look to its answer, in cycles */
  look(address: number, cycle: number, latency: number): void {
    this.awaited.set(address, latency);
    this.seenAt = Math.max(this.seenAt, cycle + latency);
    this.raised.clear();
    this.hasTurn = true;
  }

  /** @param isStore what was there is gone: it is no operation on it */
  write(address: number, cycle: number, isStore = false): void {
    if (isStore && this.hasTurn && this.awaited.has(address)) this.handOn(address, cycle);
    if (this.seenAt < 0) this.before.add(address);
    else if (!this.before.has(address) && !this.raised.has(address)) {
      this.raised.set(address, Math.max(0, cycle - this.seenAt));
    }
  }

  private handOn(address: number, cycle: number): void {
    this.hasTurn = false;
    const handed = this.handedOn.get(address) ?? { times: 0, cycles: 0 };
    handed.times += 1;
    handed.cycles += Math.max(0, cycle - this.seenAt);
    this.handedOn.set(address, handed);
  }
}

/** Somebody must hand a turn back; where more than two of few sampled blocks wait, all do. */
const PAIR = 2;

/**
 * Cycles of a block that waits for its turn at a word and hands it on by storing there: until it has its next turn all others
 * that wait at the word have had theirs.
 * @param signals of sampled blocks, whose chain is told of the first
 * @param together blocks that are there at once
 * @param oneWay cycles that a write takes to L2
 */
export function turnCycles(signals: readonly Signals[], together: number, oneWay: number): number {
  const [first] = signals;
  let longest = 0;
  for (const [address, { times, cycles }] of first.handedOn) {
    // Once is what a link of a chain does.
    if (times < 2) continue;
    const sharing = signals.filter(({ awaited }) => awaited.has(address)).length;
    const takers = sharing > PAIR ? together : Math.min(PAIR, together);
    const way = oneWay + (first.awaited.get(address) ?? 0);
    longest = Math.max(longest, takers * (cycles + times * way));
  }
  return longest;
}

/**
 * Cycles from one block's having seen its signal to the next one's having seen what it raises, where each of them waits for the
 * one before; 0 where they do not. For words that blocks hand on see `turnCycles`.
 * @param oneWay cycles that a write takes to L2
 */
export function linkCycles(earlier: Signals, later: Signals, oneWay: number): number {
  let longest = 0;
  for (const [address, latency] of later.awaited) {
    if ((later.handedOn.get(address)?.times ?? 0) > 1) continue;
    const cycles = earlier.raised.get(address);
    // On average it comes halfway between two looks, and half a look is on its way back.
    if (cycles !== undefined) longest = Math.max(longest, cycles + oneWay + latency);
  }
  return longest;
}
