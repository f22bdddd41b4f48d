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
  /** What the SM's memory is split into while it holds these blocks. */
  readonly sharedConfigurationBytes: number;
  /** L1 cache that the split leaves. */
  readonly l1Bytes: number;
}

/** Where registers are given to whole blocks, warps get theirs in pairs. */
const WARPS_TOGETHER = 2;

export function blockFootprint(
  profile: DeviceProfile,
  threads: number,
  registersPerThread: number,
  sharedBytes: number,
): BlockFootprint {
  const { limits, warpSize } = profile;
  const warps = Math.ceil(threads / warpSize);
  const perWarp = registersPerThread * warpSize;
  return {
    threads,
    warps,
    registers:
      limits.registerUnitPerBlock > 0
        ? roundUp(roundUp(warps, WARPS_TOGETHER) * perWarp, limits.registerUnitPerBlock)
        : roundUp(perWarp, limits.registerUnitPerWarp) * warps,
    sharedBytes: roundUp(sharedBytes, limits.sharedUnitBytes) + limits.sharedReservedPerBlockBytes,
  };
}

/**
 * Blocks of one kind that each limit alone would let onto an empty SM.
 * @param carveoutPercent share of its memory that a launch wants an SM to have as shared memory; without one it may have all
 */
export function occupancyLimits(
  profile: DeviceProfile,
  block: BlockFootprint,
  carveoutPercent?: number,
): Record<OccupancyLimit, number> {
  const { limits } = profile;
  const sharedBytes =
    carveoutPercent === undefined
      ? limits.sharedPerSmBytes
      : carvedOut(profile, carveoutPercent, block.sharedBytes);
  return {
    threads: Math.floor(limits.threadsPerSm / block.threads),
    warps: Math.floor(limits.warpsPerSm / block.warps),
    registers: registerLimit(profile, block),
    shared: Math.floor(sharedBytes / Math.max(1, block.sharedBytes)),
    blocks: limits.blocksPerSm,
  };
}

/** A scheduler's warps have their registers in its own part of the register file; what is left of two parts is not one warp's. */
function registerLimit({ limits, schedulersPerSm }: DeviceProfile, block: BlockFootprint): number {
  if (block.registers === 0) return limits.blocksPerSm;
  if (limits.registerUnitPerBlock > 0) return Math.floor(limits.registersPerSm / block.registers);
  const perWarp = block.registers / block.warps;
  const warpsOfPart = Math.floor(limits.registersPerSm / schedulersPerSm / perWarp);
  return Math.floor((warpsOfPart * schedulersPerSm) / block.warps);
}

/** The most registers a thread with which a block of so many threads fits an SM. */
export function registersThatFit(
  { limits, schedulersPerSm, warpSize }: DeviceProfile,
  threads: number,
): number {
  const warps = Math.ceil(threads / warpSize);
  const perWarp =
    limits.registerUnitPerBlock > 0
      ? roundDown(limits.registersPerSm, limits.registerUnitPerBlock) / roundUp(warps, WARPS_TOGETHER)
      : roundDown(
          limits.registersPerSm / schedulersPerSm / Math.ceil(warps / schedulersPerSm),
          limits.registerUnitPerWarp,
        );
  return Math.min(Math.floor(perWarp / warpSize), limits.registersPerThread);
}

const LIMITS: readonly OccupancyLimit[] = ['threads', 'warps', 'registers', 'shared', 'blocks'];

/** Blocks of one kind that fit an empty SM, and which limit stops the next one. */
export function occupancy(
  profile: DeviceProfile,
  block: BlockFootprint,
  carveoutPercent?: number,
): Occupancy {
  const fits = occupancyLimits(profile, block, carveoutPercent);
  const boundBy = LIMITS.reduce((least, next) => (fits[next] < fits[least] ? next : least));
  const blocksPerSm = fits[boundBy];
  const warpsPerSm = blocksPerSm * block.warps;
  const sharedConfigurationBytes =
    carveoutPercent === undefined
      ? leastConfiguration(profile, blocksPerSm * block.sharedBytes)
      : carvedOut(profile, carveoutPercent, block.sharedBytes);
  return {
    blocksPerSm,
    warpsPerSm,
    share: warpsPerSm / profile.limits.warpsPerSm,
    boundBy,
    sharedConfigurationBytes,
    l1Bytes: l1Beside(profile, sharedConfigurationBytes),
  };
}

/** Clusters of so many blocks that the device holds at once when nothing else is there: each in one GPC. */
export function activeClusters(
  { gpcTpcs, smsPerTpc }: DeviceProfile,
  blocksPerSm: number,
  clusterBlocks: number,
): number {
  return gpcTpcs.reduce(
    (clusters, tpcs) => clusters + Math.floor((tpcs * smsPerTpc * blocksPerSm) / clusterBlocks),
    0,
  );
}

/** L1 cache of an SM that holds so much shared memory: what is left of their common memory, in the steps that there are. */
export function l1BytesBeside(profile: DeviceProfile, residentSharedBytes: number): number {
  return l1Beside(profile, leastConfiguration(profile, residentSharedBytes));
}

function l1Beside({ memory }: DeviceProfile, configurationBytes: number): number {
  return Math.max(0, memory.l1Bytes - configurationBytes);
}

/** The least configuration that has the wanted share, and room for one block. */
function carvedOut({ limits }: DeviceProfile, percent: number, blockBytes: number): number {
  const wanted = (limits.sharedPerSmBytes * percent) / 100;
  return (
    limits.sharedConfigurationsBytes.find((bytes) => bytes >= wanted && bytes >= blockBytes) ??
    limits.sharedPerSmBytes
  );
}

function leastConfiguration({ limits }: DeviceProfile, bytes: number): number {
  return limits.sharedConfigurationsBytes.find((each) => each >= bytes) ?? limits.sharedPerSmBytes;
}

function roundDown(value: number, unit: number): number {
  return Math.floor(value / unit) * unit;
}

function roundUp(value: number, unit: number): number {
  return Math.ceil(value / unit) * unit;
}
