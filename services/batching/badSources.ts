import { fittingGroup } from '../../containers/protocol/index.js';

/** What one source's inputs have come to, with fading weights. */
interface Tally {
  bad: number;
  all: number;
}

/** From this share of bad inputs on, as far as that is certain, a source travels by itself. */
const SEPARATE_SHARE = 0.05;
/** Standard deviations that it is to be above that: in one of ten, chance would do it. */
const CERTAINTY = 1.28;
/** Inputs of its own that weigh as much as what is expected of a source of which nothing is known. */
const PRIOR_INPUTS = 4;
/** The share that is expected of it while newcomers are not known to be worse. */
const PRIOR_SHARE = 0.05;
/** Beyond so many inputs, older ones count half: a source that mends its ways is with everybody else again. */
const MOST_COUNTED = 128;
/** Inputs with which a source is a newcomer. */
const FIRST_INPUTS = 8;
/** After so many good inputs in a row nobody needs to be counted. */
const QUIET_AFTER = 16_384;

/**
 * Which share of each source's inputs a model fails on, of late, and how certain that is: few inputs say little. Only inputs
 * that have an answer of their own count: whoever shared a batch with a bad input stays innocent. Of a source of which nothing is
 * known as much is expected as of those that were new before it, so that nobody gains by coming as another one each time. A
 * source is forgotten with the object that stands for it.
 */
export class BadSources {
  private readonly tallies = new WeakMap<object, Tally>();
  private readonly newcomers: Tally = { bad: 0, all: 0 };
  private goodInARow = QUIET_AFTER;

  /** An input of the source had its own answer, or failed by itself. */
  judge(source: object, isBad: boolean): void {
    if (isBad) this.goodInARow = 0;
    else if (this.goodInARow >= QUIET_AFTER) return;
    else this.goodInARow += 1;
    let tally = this.tallies.get(source);
    if (tally === undefined) {
      tally = { bad: 0, all: 0 };
      this.tallies.set(source, tally);
    }
    if (tally.all < FIRST_INPUTS) count(this.newcomers, isBad);
    count(tally, isBad);
  }

  /** Whether its inputs travel apart from everybody else's. */
  isBad(source: object): boolean {
    return this.goodInARow < QUIET_AFTER && certainShare(this.expected(source)) >= SEPARATE_SHARE;
  }

  /** How many inputs of such a source may travel together where one of them spoils the others' answers. */
  mostTogether(source: object): number {
    const { bad, all } = this.expected(source);
    return fittingGroup(bad, all);
  }

  private expected(source: object): Tally {
    const pool = withPrior(this.newcomers, PRIOR_SHARE);
    const priorShare = certainShare(pool) < SEPARATE_SHARE ? PRIOR_SHARE : pool.bad / pool.all;
    const own = this.tallies.get(source);
    // Nothing of its own: those who were new before it have shown all that there is.
    return own === undefined ? pool : withPrior(own, priorShare);
  }
}

function count(tally: Tally, isBad: boolean): void {
  tally.all += 1;
  if (isBad) tally.bad += 1;
  if (tally.all <= MOST_COUNTED) return;
  tally.all /= 2;
  tally.bad /= 2;
}

function withPrior({ bad, all }: Tally, share: number): Tally {
  return { bad: bad + PRIOR_INPUTS * share, all: all + PRIOR_INPUTS };
}

/** The share that is at least so, of all that may be behind what was counted (a beta distribution, by its mean and deviation). */
function certainShare({ bad, all }: Tally): number {
  const mean = bad / all;
  return mean - CERTAINTY * Math.sqrt((mean * (1 - mean)) / (all + 1));
}
