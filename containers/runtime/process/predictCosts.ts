import { fittingGroup } from '../../protocol/index.js';

/** How inputs of which some are bad are asked. */
export type Manner =
  /** All that are left together, without the one that the model looked at last when it threw. */
  { readonly kind: 'withoutLast' } | { readonly kind: 'groups'; readonly size: number };

/** Weight of the newest call in running means. */
const NEWEST_WEIGHT = 0.2;
/** Inputs, counted with fading weights, that tell the share of bad ones. */
const MOST_COUNTED = 256;
/** A model whose last look has told the bad input less often than that is not asked by it. */
const LEAST_TRUST = 0.5;
const FULL_TRUST = 0.9;
/** Of what is missing to full trust, with each batch that is asked without it: models change their ways. */
const TRUST_REGAINED = 0.01;

/**
 * What calls of a user's `predict` have taken, which share of its inputs it fails on, and what follows for a batch that
 * holds bad ones: a model that takes as long for a batch as for an input is to be called seldom, one that takes its time
 * for each input not for those that are to be thrown away.
 */
export class PredictCosts {
  /** Of one input, and of several: calls of either kind may not come for long. */
  private oneNs: number | undefined;
  private severalNs: number | undefined;
  private severalSize = 0;
  private failedNs: number | undefined;
  private failedOneNs: number | undefined;
  /** Of inputs that travel with everybody's, and of those that travel apart: a batch is one or the other. */
  private readonly shares = { common: { bad: 0, counted: 0 }, suspect: { bad: 0, counted: 0 } };
  private share = this.shares.common;
  private trust = 0.75;

  /** A batch begins: what is counted and expected from now on is of its kind. */
  onBatch(isSuspect: boolean): void {
    this.share = isSuspect ? this.shares.suspect : this.shares.common;
  }

  /** At most what a call takes that is answered, as far as that is known. */
  answeredNs(size: number): number {
    const { fixedNs, itemNs } = this.line();
    return this.severalNs === undefined ? fixedNs * size : fixedNs + itemNs * size;
  }

  onAnswered(size: number, tookNs: number): void {
    this.count(size, 0);
    if (size === 1) {
      this.oneNs = weighed(this.oneNs, tookNs);
    } else {
      this.severalSize = weighed(this.severalNs === undefined ? undefined : this.severalSize, size);
      this.severalNs = weighed(this.severalNs, tookNs);
    }
  }

  onFailed(size: number, tookNs: number): void {
    if (size === 1) {
      this.failedOneNs = weighed(this.failedOneNs, tookNs);
      this.count(1, 1);
    } else {
      this.failedNs = weighed(this.failedNs, tookNs);
    }
  }

  /** Whether the input that was looked at last was the bad one. */
  onLastLook(wasRight: boolean): void {
    this.trust += 0.25 * ((wasRight ? 1 : 0) - this.trust);
  }

  /** A batch was asked without it. */
  onAskedOtherwise(): void {
    this.trust += TRUST_REGAINED * (1 - this.trust);
  }

  /** The last look has told the bad input nearly always. */
  get isTrusted(): boolean {
    return this.trust > FULL_TRUST;
  }

  /** Bad ones among so many, as far as the inputs before them tell. */
  expectedBad(size: number): number {
    const { bad, counted } = this.share;
    return counted === 0 ? 0 : (bad / counted) * size;
  }

  /**
   * The cheapest manner for inputs that have failed together, or of which some will.
   * @param isTold it is known at which one the model looked last.
   */
  manner(size: number, isTold: boolean): Manner {
    const bad = Math.min(size, Math.max(1, this.expectedBad(size)));
    const good = size - bad;
    const { failedNs = 0, failedOneNs = failedNs } = this;
    const { fixedNs, itemNs } = this.line();
    const share = bad / size;
    const singlesNs = good * (fixedNs + itemNs) + bad * failedOneNs;
    // As many calls as there are bits to be found; half of them are answered.
    const calls = Math.max(2, size * entropy(share));
    const groupsNs = (calls / 2) * (fixedNs + failedNs) + good * itemNs;
    if (isTold && this.trust >= LEAST_TRUST) {
      // Nothing is known of what an answer takes.
      if (fixedNs + itemNs === 0) return { kind: 'withoutLast' };
      const withoutNs = bad * (failedNs + failedOneNs) + fixedNs + good * itemNs;
      if (withoutNs <= Math.min(singlesNs, groupsNs)) return { kind: 'withoutLast' };
    }
    const most = Math.max(1, size >> 1);
    const fitting = Math.min(most, fittingGroup(bad, size));
    return { kind: 'groups', size: singlesNs <= groupsNs ? 1 : fitting };
  }

  /** Through what is known of calls that are answered. Where all were alike an input costs nothing extra: larger groups are tried. */
  private line(): { readonly fixedNs: number; readonly itemNs: number } {
    const { oneNs, severalNs, severalSize } = this;
    if (oneNs === undefined || severalNs === undefined)
      return { fixedNs: oneNs ?? severalNs ?? 0, itemNs: 0 };
    const slopeNs = (severalNs - oneNs) / (severalSize - 1);
    const itemNs = Math.min(Math.max(0, slopeNs), severalNs / severalSize);
    return { fixedNs: severalNs - itemNs * severalSize, itemNs };
  }

  private count(inputs: number, bad: number): void {
    const { share } = this;
    share.counted += inputs;
    share.bad += bad;
    if (share.counted <= MOST_COUNTED) return;
    share.counted /= 2;
    share.bad /= 2;
  }
}

function weighed(mean: number | undefined, newest: number): number {
  return mean === undefined ? newest : mean + NEWEST_WEIGHT * (newest - mean);
}

function entropy(share: number): number {
  if (share <= 0 || share >= 1) return 0;
  return -share * Math.log2(share) - (1 - share) * Math.log2(1 - share);
}
