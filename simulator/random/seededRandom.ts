import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Choices that a seed decides: the same ones on every machine. */
export class SeededRandom {
  private readonly generator;

  constructor(seed: number) {
    this.generator = xoroshiro128plus(seed);
    // Nearby seeds begin alike: the first words are thrown away.
    for (let i = 0; i < 16; i++) this.generator.next();
  }

  /** 32 random bits, as int32. */
  word(): number {
    return this.generator.next() | 0;
  }

  /** From 0 to below 1, a multiple of 2^-32. */
  share(): number {
    return (this.word() >>> 0) / 2 ** 32;
  }

  /** An integer in [0, count). */
  below(count: number): number {
    return (this.word() >>> 0) % count;
  }

  /** An integer in [least, most]. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.share() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) throw new RangeError('nothing to pick from');
    return choice;
  }
}
