import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Seeded choices of oracles and of what they are given. */
export class OracleRandom {
  private readonly generator;

  constructor(seed: number) {
    this.generator = xoroshiro128plus(seed);
    // Nearby seeds begin alike: the first words are thrown away.
    for (let word = 0; word < 16; word++) this.generator.next();
  }

  /** 32 random bits. */
  word(): number {
    return this.generator.next() >>> 0;
  }

  /** A whole number from 0 to `choices` - 1. */
  below(choices: number): number {
    return Math.floor((this.word() / 2 ** 32) * choices);
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.word() / 2 ** 32 < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) throw new RangeError('nothing to pick from');
    return choice;
  }

  /** The numbers 0 … count - 1 in a random order. */
  order(count: number): number[] {
    const left = Array.from({ length: count }, (_, index) => index);
    return left.slice().flatMap(() => left.splice(this.below(left.length), 1));
  }
}
