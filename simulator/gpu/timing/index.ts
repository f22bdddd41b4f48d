export {
  DEVICE_RESOURCES,
  SM_RESOURCES,
  alike,
  capacities,
  rampedWork,
  scaleWork,
  withoutStarts,
  type BlockWork,
  type Capacities,
} from './blockWork.js';
export { joinedNs } from './blockTime.js';
export { blockRates } from './blockRates.js';
export type { RatedGroup, SmClass } from './ratedGroup.js';
export { classRates } from './classRates.js';
export { DEVICE_PATH, DEVICE_SHARED, DeviceShares, UNFELT } from './deviceShares.js';
export { pathNs } from './memoryPath.js';
export { soloDevicePower, soloSmPower, soloTime } from './soloTime.js';
export { fairShare } from './fairShare.js';
export { raised } from './powers.js';
export { forgetSegment, missShare, residentShare, touchSegments, type L2State } from './l2State.js';
export { profileBlock, profileLaunch, type KernelProfile } from './kernelProfile.js';
export { pointedSegments, segmentUses, type SegmentPattern, type SegmentUse } from './segmentPattern.js';
export { blockLike, executedOf, blockWork, planTraffic, type TrafficPlan } from './trafficPlan.js';
export { MECHANISMS, type Mechanism } from './mechanisms.js';
export { rulesLeftOut, workWithoutWaves } from './withoutRules.js';
export { instructionPlans } from './instructionPlan.js';
