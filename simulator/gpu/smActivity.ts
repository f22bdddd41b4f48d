/** What each SM of a GPU has done since counting began; plain data. */
export interface SmCounts {
  readonly asOfNs: number;
  /** Time with at least one resident block. */
  readonly busyNs: Float64Array;
  /** Resident blocks summed over time: divided by `busyNs`, the mean residency of a busy SM. */
  readonly blockNs: Float64Array;
}

/**
 * Adds up the residency of SMs over time. Residency changes only when a device settles, so that one look before each
 * change counts exactly; a device that nobody watches has no meter and pays nothing.
 */
export class SmActivity {
  private readonly busyNs: Float64Array;
  private readonly blockNs: Float64Array;

  constructor(
    sms: number,
    private asOfNs: number,
  ) {
    this.busyNs = new Float64Array(sms);
    this.blockNs = new Float64Array(sms);
  }

  /** `blocks` were resident on each SM since the last call. */
  advance(blocks: Int32Array, nowNs: number): void {
    const elapsedNs = nowNs - this.asOfNs;
    if (elapsedNs <= 0) return;
    this.asOfNs = nowNs;
    const { busyNs, blockNs } = this;
    for (let sm = 0; sm < blocks.length; sm++) {
      const resident = blocks[sm];
      if (resident === 0) continue;
      busyNs[sm] += elapsedNs;
      blockNs[sm] += elapsedNs * resident;
    }
  }

  counts(): SmCounts {
    return { asOfNs: this.asOfNs, busyNs: this.busyNs.slice(), blockNs: this.blockNs.slice() };
  }
}
