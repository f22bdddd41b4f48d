import { dispatchInOrder } from './orderedDispatch.js';
import type { DeviceView, LaunchView, SchedulingDecision, SchedulingPolicy } from './policy.js';
import { insert, isBefore, rankOf } from './urgency.js';

/**
 * Launches by class, then by priority, then by age; nothing is preempted, and a launch that has begun gives all its blocks
 * first. The most that a scheduler outside the device can do: it chooses the next kernel (level 2 of XSched, OSDI'25).
 */
export class PriorityPolicy implements SchedulingPolicy {
  readonly name = 'priority';
  private readonly order: LaunchView[] = [];

  decide(view: DeviceView): SchedulingDecision {
    const { order } = this;
    order.length = 0;
    for (const launch of view.launches) if (launch.next < launch.hi) insert(launch, order, goesBefore);
    return dispatchInOrder(order, view) ?? HOLD;
  }

  snapshot(): null {
    return null;
  }

  restore(): void {
    // Nothing is remembered between decisions.
  }
}

const HOLD: SchedulingDecision = { kind: 'hold' };

function goesBefore(a: LaunchView, b: LaunchView): boolean {
  const [aHasBegun, bHasBegun] = [a.next > a.lo, b.next > b.lo];
  if (aHasBegun !== bHasBegun) return aHasBegun;
  return rankOf(a) === rankOf(b) ? isBefore(a, b) : rankOf(a) > rankOf(b);
}
