/** Weight of the newest input of a source. */
const NEWEST_WEIGHT = 0.1;
/** From this share of bad inputs on a source travels by itself. */
const SEPARATE_SHARE = 0.05;
/** Bad inputs to be expected in a group: about half of such groups are answered. */
const BAD_A_GROUP = 0.7;

/**
 * Which share of each source's inputs a model fails on, of late. Only inputs that were suspected count, and all inputs of a
 * source that was found bad are: whoever shared a batch with a bad input stays innocent. Of a source of which nothing is known
 * as much is expected as of those that were new before it, so that nobody gains by coming as another one each time. A source is
 * forgotten with the object that stands for it.
 */
export class BadSources {
  private readonly shares = new WeakMap<object, number>();
  private newcomers = 0;

  /** How an input that was suspected has ended. */
  judge(source: object, isBad: boolean): void {
    const known = this.shares.get(source);
    const next = weighed(known ?? this.newcomers, isBad);
    if (known === undefined) this.newcomers = weighed(this.newcomers, isBad);
    this.shares.set(source, next);
  }

  /** How many of the source's inputs may travel together, apart from everybody else's; Infinity: with everybody else's. */
  mostTogether(source: object): number {
    const share = this.shares.get(source) ?? this.newcomers;
    return share < SEPARATE_SHARE ? Infinity : Math.max(1, Math.floor(BAD_A_GROUP / share));
  }
}

function weighed(share: number, isBad: boolean): number {
  return share + NEWEST_WEIGHT * ((isBad ? 1 : 0) - share);
}
