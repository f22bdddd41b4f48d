import type { Arm } from '../policy.js';
import type { LoggedFeedback } from './loggedFeedback.js';

/**
 * What a log can tell of choices that it did not make. Of a line that was no draw (propensity 1) it is what was judged; of one that
 * was drawn every arm that some draw has chosen.
 */
export class Support {
  /** The smallest propensity of the log. */
  readonly smallest: number;
  private readonly drawn = new Set<Arm>();

  constructor(private readonly log: readonly LoggedFeedback[]) {
    let smallest = 1;
    for (const { propensity = 1, losses } of log) {
      if (propensity < smallest) smallest = propensity;
      if (propensity < 1) for (const arm of Object.keys(losses)) this.drawn.add(arm);
    }
    this.smallest = smallest;
  }

  has(line: number, arm: Arm): boolean {
    const { propensity = 1, losses } = this.log[line];
    return Object.hasOwn(losses, arm) || (propensity < 1 && this.drawn.has(arm));
  }
}
