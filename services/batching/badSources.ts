/** Weight of the newest input of a source. */
const NEWEST_WEIGHT = 0.1;
/** From this share of bad inputs on a source travels by itself. */
const SEPARATE_SHARE = 0.05;
/** Bad inputs to be expected in a group: about half of such groups are answered. */
const BAD_A_GROUP = 0.7;

/**
 * Which share of each source's inputs a model fails on, of late. Only inputs that were suspected count, and all inputs of a
 * source that was found bad are: whoever shared a batch with a bad input stays innocent. A source is forgotten with the object
 * that stands for it.
 */
export class BadSources {
  private readonly shares = new WeakMap<object, number>();
  private anyBad = false;

  /** How an input that was suspected has ended. */
  judge(source: object, isBad: boolean): void {
    const before = this.shares.get(source);
    if (before === undefined && !isBad) return;
    const share = (before ?? 0) + NEWEST_WEIGHT * ((isBad ? 1 : 0) - (before ?? 0));
    this.shares.set(source, share);
    this.anyBad ||= isBad;
  }

  /** How many of the source's inputs may travel together, apart from everybody else's; Infinity: with everybody else's. */
  mostTogether(source: object): number {
    const share = this.anyBad ? (this.shares.get(source) ?? 0) : 0;
    return share < SEPARATE_SHARE ? Infinity : Math.max(1, Math.floor(BAD_A_GROUP / share));
  }
}
