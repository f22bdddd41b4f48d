/** The shortest time that is shown: a few points. */
const LEAST_SECONDS = 20;

/** Which part of the recorded time all charts show: its newest part, which moves on, or one that stays. */
export class TimeWindow {
  private seconds: number | undefined;
  /** undefined: the newest point. */
  private end: number | undefined;

  /** @param onChange somebody has chosen another part */
  constructor(
    private readonly recorded: { readonly newest: number; readonly spanSeconds: number },
    private readonly onChange: () => void,
  ) {}

  get from(): number {
    return this.to - this.span;
  }

  get to(): number {
    const { newest, spanSeconds } = this.recorded;
    const { end = newest } = this;
    // What is no longer recorded cannot be shown any more.
    return Math.min(newest, Math.max(end, newest - spanSeconds + this.span));
  }

  get span(): number {
    const { spanSeconds } = this.recorded;
    return Math.min(spanSeconds, this.seconds ?? spanSeconds);
  }

  get isWhole(): boolean {
    return this.span >= this.recorded.spanSeconds;
  }

  /** @param factor above 1: shows less. @param around stays where it is; the end by default */
  zoom(factor: number, around = this.to): void {
    const share = (this.to - around) / this.span;
    const span = Math.min(this.recorded.spanSeconds, Math.max(LEAST_SECONDS, this.span / factor));
    this.show(around + share * span - span, around + share * span);
  }

  /** @param share of what is shown; above 0: later */
  pan(share: number): void {
    const by = share * this.span;
    this.show(this.from + by, this.to + by);
  }

  show(from: number, to: number): void {
    const { newest, spanSeconds } = this.recorded;
    const span = Math.min(spanSeconds, Math.max(LEAST_SECONDS, to - from));
    this.seconds = span;
    const end = Math.max(to, newest - spanSeconds + span);
    this.end = end >= newest ? undefined : end;
    this.onChange();
  }

  reset(): void {
    this.seconds = undefined;
    this.end = undefined;
    this.onChange();
  }
}
