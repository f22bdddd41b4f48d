import { KeyedDraw } from '../../selection/index.js';

/** Draws in order, of one name and seed. */
export class Randomness {
  private readonly next: () => number;

  constructor(seed: number, name: string) {
    this.next = new KeyedDraw(seed).of(name);
  }

  /** From 0 to below 1. */
  share(): number {
    return this.next();
  }

  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.whole(0, choices.length - 1)];
  }
}
