import type { DeviceView, LaunchView, SchedulingDecision, SchedulingPolicy } from './policy.js';

/**
 * What the hardware does by itself: the launch of the highest priority, among equals the oldest, gives blocks until it
 * has none left; only then does the next one start, in the room that is left over. A launch that waits for room holds
 * up those behind it, unless they may run only where it may not. Resident blocks are never disturbed.
 */
export class FifoPolicy implements SchedulingPolicy {
  readonly name = 'fifo';

  decide(view: DeviceView): SchedulingDecision {
    let blockedTpcs = 0n;
    for (const launch of this.order(view.launches)) {
      if (blockedTpcs !== 0n && (maskOf(launch, view) & blockedTpcs) !== 0n) continue;
      const fits = view.fits(launch.id);
      if (fits > 0) return { kind: 'dispatch', launch: launch.id, blocks: fits };
      blockedTpcs |= maskOf(launch, view);
    }
    return { kind: 'hold' };
  }

  snapshot(): null {
    return null;
  }

  restore(): void {
    // Nothing is remembered between decisions.
  }

  private order(launches: readonly LaunchView[]): LaunchView[] {
    return launches
      .filter((launch) => launch.next < launch.hi)
      .sort((a, b) => b.priority - a.priority || a.arrivedNs - b.arrivedNs || a.id - b.id);
  }
}

function maskOf({ tpcMask }: LaunchView, { tpcs }: DeviceView): bigint {
  return tpcMask < 0n ? (1n << BigInt(tpcs)) - 1n : tpcMask;
}
