import type { Draw } from './policy.js';

/**
 * Uniform draws keyed by (seed, key): the same pair always gives the same sequence, whatever was drawn before, so the
 * order in which queries arrive does not change any of them. Two murmur3 lanes over the key's UTF-16 code units make the
 * starting point, and the murmur3 finalizer of (lane, index) each draw: building a generator of a library for one or two
 * numbers a query would cost more than the numbers.
 */
export class KeyedDraw {
  private readonly seedA: number;
  private readonly seedB: number;
  private laneA = 0;
  private laneB = 0;
  private index = 0;

  /** The next uniform number in [0, 1), with 53 random bits. Bound, so that it is itself a `Draw`. */
  readonly next: Draw = () => {
    this.index = (this.index + 1) | 0;
    const high = finalize(this.laneA ^ Math.imul(this.index, 0x9e3779b1));
    const low = finalize(this.laneB + Math.imul(this.index, 0x85ebca77));
    return ((high >>> 5) * 0x4000000 + (low >>> 6)) / 0x20000000000000;
  };

  /** @param seed any safe integer. */
  constructor(seed: number) {
    if (!Number.isSafeInteger(seed)) {
      throw new RangeError(`the seed must be a safe integer, not ${seed}`);
    }
    this.seedA = finalize((seed | 0) ^ 0x2545f491);
    this.seedB = finalize(Math.floor(seed / 0x100000000) ^ finalize((seed | 0) + 0x6a09e667));
  }

  /** Starts the sequence of this key; returns `next`. The object is reused: draw before the next call. */
  of(key: string): Draw {
    let a = this.seedA;
    let b = this.seedB;
    for (let at = 0; at < key.length; at++) {
      const unit = key.charCodeAt(at);
      a = Math.imul(rotate(a ^ Math.imul(unit, 0xcc9e2d51), 13), 5) + 0xe6546b64;
      b = Math.imul(rotate(b ^ Math.imul(unit, 0x1b873593), 15), 5) + 0x561ccd1b;
    }
    this.laneA = finalize(a ^ key.length);
    this.laneB = finalize(b ^ this.laneA);
    this.index = 0;
    return this.next;
  }
}

function rotate(x: number, by: number): number {
  return (x << by) | (x >>> (32 - by));
}

function finalize(x: number): number {
  let h = x ^ (x >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}
