import { KeyedDraw } from './keyedDraw.js';
import type { Arm, Draw } from './policy.js';

/** For contexts: any seed does, as long as it never changes. */
const deal = new KeyedDraw(20170327);

/**
 * The arm of a context, always the same; of a query without one ('') a draw of its own. Weighted rendezvous (Thaler and Ravishankar 1998):
 * of each arm an exponential variate with its share as its rate, from a hash of context and arm, and the smallest wins. When
 * shares change or arms come and go, no more contexts change their arm than have to.
 * @param shares in any unit; an arm with 0 gets nothing
 * @param experiment two of different names deal the same contexts independently
 * @returns undefined when no arm has a share
 */
export function dealtArm(
  arms: readonly Arm[],
  shares: (arm: Arm) => number,
  context: string,
  experiment: string,
  draw: Draw,
): Arm | undefined {
  let best: Arm | undefined;
  let least = Infinity;
  for (const arm of arms) {
    const share = shares(arm);
    if (share === 0) continue;
    // Names of models have no line break.
    const own = context === '' ? draw : deal.of(`${experiment}\n${arm}\n${context}`);
    const place = -Math.log(1 - own()) / share;
    if (place < least || best === undefined) {
      least = place;
      best = arm;
    }
  }
  return best;
}
