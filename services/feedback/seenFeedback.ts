/**
 * Feedback by ids under which it may come again: what is under way, and the last so much that was accepted. Whoever
 * brings the same again hears what became of the first, once that is known.
 */
export class SeenFeedback<Outcome> {
  /** Outcomes of what was accepted, the oldest first. */
  private readonly accepted = new Map<string, Outcome>();
  private readonly underWay = new Map<string, ((outcome: Outcome) => void)[]>();

  constructor(private readonly most: number) {}

  /**
   * Whether nobody has brought it before: then it begins, and `end` is due. Otherwise `onKnown` is called with what became
   * of the first, now or once it has ended.
   */
  begin(id: string, onKnown: (outcome: Outcome) => void): boolean {
    const outcome = this.accepted.get(id);
    if (outcome !== undefined) {
      onKnown(outcome);
      return false;
    }
    const waiting = this.underWay.get(id);
    if (waiting !== undefined) {
      waiting.push(onKnown);
      return false;
    }
    this.underWay.set(id, []);
    return true;
  }

  /** @param isAccepted it counts from now on; otherwise it may be brought again */
  end(id: string, outcome: Outcome, isAccepted: boolean): void {
    const waiting = this.underWay.get(id) ?? [];
    this.underWay.delete(id);
    if (isAccepted) {
      this.accepted.set(id, outcome);
      if (this.accepted.size > this.most) this.accepted.delete(this.accepted.keys().next().value ?? '');
    }
    for (const onKnown of waiting) onKnown(outcome);
  }
}
