import type { DeviceView, LaunchView, SchedulingDecision } from './policy.js';

/**
 * Dispatches launches in an order: one that waits for room holds up those behind it, unless they may run only where it may
 * not. Saved blocks come back before new ones start. @returns undefined when nothing of them fits now
 */
export function dispatchInOrder(
  launches: readonly LaunchView[],
  view: DeviceView,
): SchedulingDecision | undefined {
  let blockedTpcs = 0n;
  for (const launch of launches) {
    if (launch.isMoving) return undefined;
    if (launch.savedBlocks > 0) {
      if (view.canRestore(launch.id)) return { kind: 'restore', launch: launch.id };
      return undefined;
    }
    if (launch.next >= launch.hi) continue;
    const mask = maskOf(launch, view);
    if (blockedTpcs !== 0n && (mask & blockedTpcs) !== 0n) continue;
    const fits = view.fits(launch.id);
    if (fits > 0) return { kind: 'dispatch', launch: launch.id, blocks: fits };
    if (launch.tpcMask < 0n) return undefined;
    blockedTpcs |= mask;
  }
  return undefined;
}

function maskOf({ tpcMask }: LaunchView, { tpcs }: DeviceView): bigint {
  return tpcMask < 0n ? (1n << BigInt(tpcs)) - 1n : tpcMask;
}
