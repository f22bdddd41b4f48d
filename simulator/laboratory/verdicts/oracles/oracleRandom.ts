import { SeededRandom } from '../../../random/index.js';

/** Choices of oracles and of what they are given. Published figures were drawn by this `below`, which spreads a word over the choices. */
export class OracleRandom extends SeededRandom {
  /** 32 random bits, as uint32. */
  override word(): number {
    return super.word() >>> 0;
  }

  override below(choices: number): number {
    return Math.floor(this.share() * choices);
  }

  /** The numbers 0 … count - 1 in a random order. */
  order(count: number): number[] {
    const left = Array.from({ length: count }, (_, index) => index);
    return left.slice().flatMap(() => left.splice(this.below(left.length), 1));
  }
}
