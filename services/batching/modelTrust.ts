/** So many inputs that fail one by one, with no answer in between: the model fails whatever it gets. */
const HOPELESS_ALONE = 12;
/** Batches that fail as a whole, with no answer in between, before inputs are asked one by one. */
const HOPELESS_TOGETHER = 12;
/** Inputs of a new batch that are asked one by one before a model that was found hopeless is found so again. */
const MOST_PROBES = 8;

/**
 * Tells a model that fails for some of its inputs from one that fails for all of them. Batches that fail say nothing
 * about that: where every fourth input is bad, hardly a batch of 32 is answered. Inputs asked one by one do.
 */
export class ModelTrust {
  private together = 0;
  private alone = 0;
  private probes = MOST_PROBES;

  /** Inputs that have spoilt batches are asked one by one, whatever else is known of them. */
  get asksOneByOne(): boolean {
    return this.together >= HOPELESS_TOGETHER;
  }

  /** It fails whatever it gets: those who wait to be asked again need not wait. */
  get isHopeless(): boolean {
    return this.alone >= HOPELESS_ALONE;
  }

  onAnswered(): void {
    this.together = 0;
    this.alone = 0;
    this.probes = MOST_PROBES;
  }

  /** A batch has failed as a whole. Of a hopeless model a few of its inputs are tried, fewer each time. */
  onFailedTogether(): void {
    this.together += 1;
    if (!this.isHopeless) return;
    this.alone = HOPELESS_ALONE - this.probes;
    this.probes = Math.max(1, this.probes >> 1);
  }

  /** An input that had spoilt a batch has failed by itself. */
  onFailedAlone(): void {
    this.alone += 1;
  }
}
