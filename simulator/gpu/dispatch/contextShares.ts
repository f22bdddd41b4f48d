import { GpuError } from '../gpuError.js';
import type { DeviceProfile } from '../profiles/index.js';

/** TPCs that each context with a share may use, one bit each. Plain data. */
export type ContextShares = Map<number, bigint>;

/**
 * Gives a context a share of the card's SMs, as MPS does by its percentage of active threads: whole TPCs, of which others
 * may have some too. They are those that fewest other shares hold.
 * @throws GpuError `invalidShare`
 */
export function giveShare(
  profile: DeviceProfile,
  shares: ContextShares,
  context: number,
  percentage: number,
): void {
  if (!(percentage > 0 && percentage <= 100)) {
    throw new GpuError(
      'invalidShare',
      `percentage: ${percentage}; a context's share of the threads is above 0 and at most 100`,
      'percentage',
    );
  }
  shares.delete(context);
  if (percentage === 100) return;
  const tpcs = profile.sms / profile.smsPerTpc;
  const least = Math.min(tpcs, Math.ceil(profile.timing.leastShareSms / profile.smsPerTpc));
  const count = Math.max(least, Math.floor((percentage / 100) * tpcs));
  const held = Array.from({ length: tpcs }, (_, tpc) => {
    let holders = 0;
    for (const mask of shares.values()) holders += Number((mask >> BigInt(tpc)) & 1n);
    return { tpc, holders };
  });
  held.sort((a, b) => a.holders - b.holders || a.tpc - b.tpc);
  let mask = 0n;
  for (const { tpc } of held.slice(0, count)) mask |= 1n << BigInt(tpc);
  shares.set(context, mask);
}

/** The TPCs of a launch, within its context's share. A mask that has none of it left stays in the share. */
export function withinShare(shares: ContextShares, context: number, tpcMask: bigint): bigint {
  const share = shares.get(context);
  if (share === undefined) return tpcMask;
  const both = tpcMask < 0n ? share : tpcMask & share;
  return both === 0n ? share : both;
}
