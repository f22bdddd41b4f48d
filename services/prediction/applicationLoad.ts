/** An application's queries without an answer. One record for all of its settings, old and new. */
export class ApplicationLoad {
  inFlight = 0;
}
