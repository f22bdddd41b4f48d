import type { DeviceView, LaunchView, SchedulingDecision, SchedulingPolicy } from './policy.js';
import { isBefore } from './urgency.js';

/**
 * What the hardware does by itself: the launch of the highest priority, among equals the oldest, gives blocks until it
 * has none left; only then does the next one start, in the room that is left over. A launch that waits for room holds
 * up those behind it, unless they may run only where it may not. Resident blocks are never disturbed.
 */
export class FifoPolicy implements SchedulingPolicy {
  readonly name = 'fifo';
  nextInLine: number | undefined;
  /** Launches with blocks to give, in their order; made anew at each decision. */
  private readonly waiting: LaunchView[] = [];

  decide(view: DeviceView): SchedulingDecision {
    const { waiting } = this;
    this.collect(view.launches);
    this.nextInLine = undefined;
    let blockedTpcs = 0n;
    for (const launch of waiting) {
      if (blockedTpcs !== 0n && (maskOf(launch, view) & blockedTpcs) !== 0n) continue;
      const fits = view.fits(launch.id);
      if (fits > 0) return { kind: 'dispatch', launch: launch.id, blocks: fits };
      // One that may run anywhere leaves no place for those behind it.
      if (launch.tpcMask < 0n) {
        if (launch === waiting[0]) this.nextInLine = launch.id;
        return HOLD;
      }
      blockedTpcs |= maskOf(launch, view);
    }
    return HOLD;
  }

  snapshot(): null {
    return null;
  }

  restore(): void {
    // Nothing is remembered between decisions.
  }

  /** Sorts them in as they come: there are few, and mostly in order. */
  private collect(launches: readonly LaunchView[]): void {
    const { waiting } = this;
    while (waiting.length > 0) waiting.pop();
    for (const launch of launches) {
      if (launch.next >= launch.hi) continue;
      let place = waiting.length;
      waiting.push(launch);
      for (; place > 0 && isBefore(launch, waiting[place - 1]); place--) waiting[place] = waiting[place - 1];
      waiting[place] = launch;
    }
  }
}

const HOLD: SchedulingDecision = { kind: 'hold' };

function maskOf({ tpcMask }: LaunchView, { tpcs }: DeviceView): bigint {
  return tpcMask < 0n ? (1n << BigInt(tpcs)) - 1n : tpcMask;
}
