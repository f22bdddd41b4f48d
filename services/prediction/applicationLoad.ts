/** An application's queries. One record for all of its settings, old and new. */
export class ApplicationLoad {
  /** Without an answer. */
  inFlight = 0;
  /** That were taken so far. */
  taken = 0;
}
