/** A batch of n takes `interceptNs + n * slopeNs`; neither is below 0, since no batch takes less than no time. */
export interface QuantileLine {
  readonly interceptNs: number;
  readonly slopeNs: number;
}

const GOLDEN = (Math.sqrt(5) - 1) / 2;
/** The bracket shrinks to 4e-13 of where it began. */
const STEPS = 60;

/**
 * Linear quantile regression (Koenker and Bassett): the line with the least pinball loss, so that a share of `quantile` of
 * the batches took no longer than it says.
 *
 * For a given slope the best intercept is a quantile of what is left of the times, and the loss that remains is convex in
 * the slope, so golden sections find it. High quantiles are cheap: only the few largest remainders are ever ordered.
 * Where slopes do equally well, above all when every batch had the same size, it is the steepest: larger batches are
 * promised no gain that nobody has seen.
 * @param sizes items of each batch, above 0.
 * @param timesNs as many, not below 0.
 * @param quantile above 0, below 1.
 * @throws RangeError without samples.
 */
export function fitQuantileLine(
  sizes: ArrayLike<number>,
  timesNs: ArrayLike<number>,
  quantile: number,
): QuantileLine {
  if (sizes.length === 0) throw new RangeError('a line needs at least one sample');
  const fit = new SlopeSearch(sizes, timesNs, quantile);
  let low = 0;
  let high = fit.steepest;
  let left = high - GOLDEN * (high - low);
  let right = low + GOLDEN * (high - low);
  let leftLoss = fit.lossAt(left);
  let rightLoss = fit.lossAt(right);
  for (let step = 0; step < STEPS; step++) {
    if (rightLoss <= leftLoss + fit.equalLoss) {
      low = left;
      left = right;
      leftLoss = rightLoss;
      right = low + GOLDEN * (high - low);
      rightLoss = fit.lossAt(right);
    } else {
      high = right;
      right = left;
      rightLoss = leftLoss;
      left = high - GOLDEN * (high - low);
      leftLoss = fit.lossAt(left);
    }
  }
  const slopeNs = fit.lossAt(high) <= fit.lossAt(low) + fit.equalLoss ? high : low;
  return { interceptNs: fit.interceptAt(slopeNs), slopeNs };
}

class SlopeSearch {
  /** No line above 0 through a sample is steeper. */
  readonly steepest: number;
  /** Losses that differ by less are taken for rounding. */
  readonly equalLoss: number;
  private readonly sizeSum: number;
  private readonly timeSum: number;
  /** The largest remainders, largest first: those above the line, and the one that the line goes through. */
  private readonly top: Float64Array;

  constructor(
    private readonly sizes: ArrayLike<number>,
    private readonly timesNs: ArrayLike<number>,
    private readonly quantile: number,
  ) {
    const { length } = sizes;
    let sizeSum = 0;
    let timeSum = 0;
    let steepest = 0;
    for (let at = 0; at < length; at++) {
      sizeSum += sizes[at];
      timeSum += timesNs[at];
      steepest = Math.max(steepest, timesNs[at] / sizes[at]);
    }
    this.sizeSum = sizeSum;
    this.timeSum = timeSum;
    this.steepest = steepest;
    this.equalLoss = 1e-13 * timeSum;
    this.top = new Float64Array(Math.min(length, Math.floor(length * (1 - quantile)) + 1));
  }

  interceptAt(slopeNs: number): number {
    this.rank(slopeNs);
    return Math.max(0, this.top[this.top.length - 1]);
  }

  /** The least pinball loss at this slope. A sum over all samples in closed form, and what lies above on its own. */
  lossAt(slopeNs: number): number {
    const interceptNs = this.interceptAt(slopeNs);
    let above = 0;
    for (const remainder of this.top) above += Math.max(0, remainder - interceptNs);
    const below = this.sizes.length * interceptNs + slopeNs * this.sizeSum - this.timeSum;
    return (1 - this.quantile) * below + above;
  }

  private rank(slopeNs: number): void {
    const { top, sizes, timesNs } = this;
    top.fill(-Infinity);
    for (let at = 0; at < sizes.length; at++) {
      const remainder = timesNs[at] - slopeNs * sizes[at];
      let place = top.length - 1;
      if (remainder <= top[place]) continue;
      for (; place > 0 && top[place - 1] < remainder; place--) top[place] = top[place - 1];
      top[place] = remainder;
    }
  }
}
