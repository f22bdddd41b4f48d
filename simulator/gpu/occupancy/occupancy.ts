import type { DeviceProfile } from '../profiles/index.js';

/** What one block holds of an SM while it is resident. */
export interface BlockFootprint {
  readonly threads: number;
  readonly warps: number;
  /** Registers of the whole block, after rounding to allocation units. */
  readonly registers: number;
  /** Shared memory of the block with the system's share, rounded. */
  readonly sharedBytes: number;
}

export type OccupancyLimit = 'threads' | 'warps' | 'registers' | 'shared' | 'blocks';

export interface Occupancy {
  readonly blocksPerSm: number;
  readonly warpsPerSm: number;
  /** Resident warps over the most that an SM holds. */
  readonly share: number;
  /** The limit that binds; of several equal ones the first in the order of `OccupancyLimit`. */
  readonly boundBy: OccupancyLimit;
}

export function blockFootprint(
  profile: DeviceProfile,
  threads: number,
  registersPerThread: number,
  sharedBytes: number,
): BlockFootprint {
  const { limits, warpSize } = profile;
  const warps = Math.ceil(threads / warpSize);
  const perWarp = roundUp(registersPerThread * warpSize, limits.registerUnitPerWarp);
  return {
    threads,
    warps,
    registers: perWarp * warps,
    sharedBytes: roundUp(sharedBytes, limits.sharedUnitBytes) + limits.sharedReservedPerBlockBytes,
  };
}

/** Blocks of one kind that each limit alone would let onto an empty SM. */
export function occupancyLimits(
  profile: DeviceProfile,
  block: BlockFootprint,
): Record<OccupancyLimit, number> {
  const { limits } = profile;
  return {
    threads: Math.floor(limits.threadsPerSm / block.threads),
    warps: Math.floor(limits.warpsPerSm / block.warps),
    registers: Math.floor(limits.registersPerSm / Math.max(1, block.registers)),
    shared: Math.floor(limits.sharedPerSmBytes / Math.max(1, block.sharedBytes)),
    blocks: limits.blocksPerSm,
  };
}

const LIMITS: readonly OccupancyLimit[] = ['threads', 'warps', 'registers', 'shared', 'blocks'];

/** Blocks of one kind that fit an empty SM, and which limit stops the next one. */
export function occupancy(profile: DeviceProfile, block: BlockFootprint): Occupancy {
  const fits = occupancyLimits(profile, block);
  const boundBy = LIMITS.reduce((least, next) => (fits[next] < fits[least] ? next : least));
  const blocksPerSm = fits[boundBy];
  const warpsPerSm = blocksPerSm * block.warps;
  return { blocksPerSm, warpsPerSm, share: warpsPerSm / profile.limits.warpsPerSm, boundBy };
}

function roundUp(value: number, unit: number): number {
  return Math.ceil(value / unit) * unit;
}
