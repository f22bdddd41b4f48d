import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Seeded draws of a training run. */
export class Draws {
  private readonly generator;

  constructor(seed: number) {
    this.generator = xoroshiro128plus(seed);
  }

  /** Uniform in [0, 1). */
  unit(): number {
    return uniformFloat64(this.generator);
  }

  /** Uniform in [-limit, limit). */
  symmetric(limit: number): number {
    return (2 * this.unit() - 1) * limit;
  }

  /** Uniform integer in [low, high]. */
  integer(low: number, high: number): number {
    return uniformInt(this.generator, low, high);
  }

  shuffle(order: Int32Array): void {
    for (let last = order.length - 1; last > 0; last--) {
      const other = this.integer(0, last);
      const kept = order[last];
      order[last] = order[other];
      order[other] = kept;
    }
  }
}
