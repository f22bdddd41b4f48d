import type { ExecutorLaunch } from '../executor/index.js';
import { launchNeeds, occupancyLimits, type DeviceProfile, type OccupancyLimit } from '../gpu/index.js';
import type { LaunchOccupancy } from './profileReport.js';

/** How many blocks of a launch a device holds at once, and what keeps the next one out. */
export function describeOccupancy(
  { kernel, module, shape }: ExecutorLaunch,
  profile: DeviceProfile,
): LaunchOccupancy {
  const { registersPerThread, staticSharedBytes, block } = launchNeeds(profile, module.ir, kernel, shape);
  const limits = occupancyLimits(profile, block);
  const names = Object.keys(limits) as OccupancyLimit[];
  const blocksPerSm = Math.min(...names.map((name) => limits[name]));
  const warpsPerSm = blocksPerSm * block.warps;
  return {
    registersPerThread,
    staticSharedBytes,
    dynamicSharedBytes: shape.dynamicSharedBytes,
    warpsPerBlock: block.warps,
    blocksPerSm,
    warpsPerSm,
    share: warpsPerSm / profile.limits.warpsPerSm,
    boundBy: names.filter((name) => limits[name] === blocksPerSm),
    limits,
    sms: profile.sms,
    waves: product(shape.grid) / Math.max(1, blocksPerSm * profile.sms),
  };
}

function product([x, y, z]: readonly [number, number, number]): number {
  return x * y * z;
}
