const REMEMBERED = 12;

/**
 * What a batch may be expected to take from sending to its answer: the second longest of the last twelve. Above most of
 * them, so that what is sent in hope of being in time mostly is; and one pause of the container, of whatever length,
 * does not make the queue give up on queries that it could serve.
 */
export class RecentRoundTrips {
  private readonly lastNs = new Float64Array(REMEMBERED);
  private at = 0;
  /** 0 until there are two. */
  expectedNs = 0;

  record(roundTripNs: number): void {
    this.lastNs[this.at] = roundTripNs;
    this.at = (this.at + 1) % REMEMBERED;
    let longestNs = 0;
    let secondNs = 0;
    for (const ns of this.lastNs) {
      if (ns > longestNs) {
        secondNs = longestNs;
        longestNs = ns;
      } else if (ns > secondNs) {
        secondNs = ns;
      }
    }
    this.expectedNs = secondNs;
  }
}
