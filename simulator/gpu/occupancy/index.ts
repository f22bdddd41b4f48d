export { launchCluster } from './clusterLimits.js';
export {
  activeClusters,
  blockFootprint,
  l1BytesBeside,
  occupancy,
  occupancyLimits,
  type BlockFootprint,
  type Occupancy,
  type OccupancyLimit,
} from './occupancy.js';
export { checkedNeeds, launchNeeds, type LaunchNeeds } from './launchNeeds.js';
export { staticSharedBytes } from './launchLimits.js';
export { estimateRegisters } from './registerEstimate.js';
