import type { BatchSample, BatchSizeController } from './batchSize.js';
import { fitQuantileLine, type QuantileLine } from './quantileLine.js';

/** Two samples in a hundred of these may lie above a 99th percentile, so a single stray one never draws it. */
const WINDOW = 200;
const QUANTILE = 0.99;
/** Until the window is long enough, the quantile is one that leaves a single sample above it. */
const STRAYS = 1.5;
/** Samples from one fit to the next. */
const FIT_EVERY = 4;
/** How far one fit may move the limit. */
const LARGEST_GROWTH = 1.25;
const LARGEST_CUT = 0.5;
/** A batch that takes so many times what the line says is a stray. */
const STRAY_FACTOR = 2;
/** One stray in so many is what a 99th percentile leaves out. */
const STRAY_PERIOD = 100;

export interface QuantileOptions {
  /** What the container takes at most. */
  readonly ceiling: number;
}

/**
 * Quantile regression (Clipper 4.3.1): a line through the 99th percentile of the time that recent batches took, against
 * their size, and the largest size at which it is within the objective.
 *
 * Only full batches raise the limit, by a quarter at most a fit, and by less when recent batches were nearly of one size:
 * then the line's slope is a guess. When all were of one size, the limit goes up by one to find out, while it is in time. Old samples leave with the window, so
 * a model that has become faster is believed after as many batches; a slower one shows in the percentile at once.
 * A lone stray is set aside: while the limit grows, the largest sizes are the newest, and one bad sample among them would
 * turn the line on its end.
 */
export class QuantileController implements BatchSizeController {
  readonly strategy = 'quantile';
  private readonly sizes = new Float64Array(WINDOW);
  private readonly timesNs = new Float64Array(WINDOW);
  private readonly ceiling: number;
  private samples = 0;
  private line: QuantileLine | undefined;
  private batches = 0;
  private lastStray = -Infinity;
  private filled = false;
  private current = 1;
  private objectiveNs = Infinity;

  constructor(options: QuantileOptions) {
    this.ceiling = options.ceiling;
  }

  limit(): number {
    return this.current;
  }

  limitAfter(batches: number): number {
    const fits = Math.floor(batches / FIT_EVERY);
    const grown = Math.max(this.current + 2 * fits, Math.floor(this.current * LARGEST_GROWTH ** fits));
    return Math.min(this.ceiling, grown);
  }

  observe(sample: BatchSample): void {
    this.batches += 1;
    if (this.isLoneStray(sample)) return;
    const at = this.samples++ % WINDOW;
    this.sizes[at] = sample.size;
    this.timesNs[at] = sample.serviceNs;
    if (sample.size >= this.current) this.filled = true;
    if (this.samples % FIT_EVERY === 0) this.adapt();
  }

  setObjectiveNs(objectiveNs: number): void {
    this.objectiveNs = objectiveNs;
  }

  private isLoneStray({ size, serviceNs }: BatchSample): boolean {
    if (this.line === undefined) return false;
    const { interceptNs, slopeNs } = this.line;
    if (serviceNs <= STRAY_FACTOR * (interceptNs + slopeNs * size)) return false;
    const isAlone = this.batches - this.lastStray >= STRAY_PERIOD;
    this.lastStray = this.batches;
    return isAlone;
  }

  private adapt(): void {
    const allowed = this.allowed();
    if (allowed < this.current) {
      this.current = Math.max(1, allowed, Math.floor(this.current * LARGEST_CUT));
    } else if (this.filled) {
      const growth = Math.max(this.current + 2, Math.floor(this.current * LARGEST_GROWTH));
      this.current = Math.max(this.current, Math.min(this.ceiling, growth, this.believed(), allowed));
    }
    this.filled = false;
  }

  /** The largest size that the samples allow; Infinity when none is too large. */
  private allowed(): number {
    const count = Math.min(this.samples, WINDOW);
    const sizes = this.sizes.subarray(0, count);
    const quantile = Math.min(QUANTILE, 1 - STRAYS / count);
    this.line = fitQuantileLine(sizes, this.timesNs.subarray(0, count), quantile);
    const { interceptNs, slopeNs } = this.line;
    const leftNs = this.objectiveNs - interceptNs;
    if (leftNs < 0) return 0;
    // A size that takes exactly the objective is in time, whatever rounding says.
    const allowed = slopeNs === 0 ? Infinity : Math.floor((leftNs / slopeNs) * (1 + 1e-9));
    const isOneSize = sizes.every((size) => size === sizes[0]);
    return isOneSize && allowed === this.current ? this.current + 1 : allowed;
  }

  /** As far beyond the sizes of late as they are from each other. */
  private believed(): number {
    const sizes = this.sizes.subarray(0, Math.min(this.samples, WINDOW));
    const largest = sizes.reduce((most, size) => Math.max(most, size));
    const smallest = sizes.reduce((least, size) => Math.min(least, size));
    return largest + Math.max(1, largest - smallest);
  }
}
