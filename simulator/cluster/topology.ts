import { HOST_CPU_LINK, hostLink } from '../driver/index.js';
import type { DeviceProfile } from '../gpu/index.js';

/** What stands around a node's GPUs. */
export interface NodeTopology {
  /** Cores that submit commands and stage copies. */
  readonly hostCores: number;
}

export const DEFAULT_TOPOLOGY: NodeTopology = { hostCores: 16 };

/** Shared capacities by link, in units a nanosecond: core-nanoseconds for the host's CPU, bytes for buses. */
export function linkCapacities(
  topology: NodeTopology,
  profiles: readonly DeviceProfile[],
): Map<string, number> {
  const links = new Map<string, number>([[HOST_CPU_LINK, topology.hostCores]]);
  profiles.forEach((profile, gpu) => {
    links.set(hostLink(gpu, 'toDevice'), profile.copies.hostLinkBytesPerSecond / 1e9);
    links.set(hostLink(gpu, 'toHost'), profile.copies.hostLinkBytesPerSecond / 1e9);
    links.set(hostLink(gpu, 'bothWays'), profile.copies.bothWaysBytesPerSecond / 1e9);
  });
  return links;
}
