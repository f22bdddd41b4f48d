export { Agenda, type AgendaSnapshot, type AgendaTarget } from './agenda.js';
export {
  type BlockReport,
  LATEST_PART,
  uniformWork,
  type FaultPoint,
  type KeptProfiles,
  type KnownWork,
  type LaunchRecord,
  type LaunchRequest,
  type PreemptionTotals,
  type ResidentGroup,
} from './dispatch/index.js';
export {
  CostError,
  CostLibrary,
  CostRecorder,
  parseCosts,
  plainCosts,
  scalarsOf,
  type PlainKernel,
  type CostDocument,
  type FixedCost,
  type LaunchCost,
  type ProfiledCost,
} from './costs/index.js';
export { copyWork } from './copyWork.js';
export type { DeviceObserver } from './deviceObserver.js';
export { GpuDevice } from './gpuDevice.js';
export { emptyDevice, type ContextSharing, type DeviceState } from './deviceState.js';
export { GpuError } from './gpuError.js';
export {
  activeClusters,
  blockFootprint,
  checkedNeeds,
  launchCluster,
  launchNeeds,
  estimateRegisters,
  occupancy,
  occupancyLimits,
  staticSharedBytes,
  type BlockFootprint,
  type Occupancy,
  type OccupancyLimit,
} from './occupancy/index.js';
export type { DeviceReadings } from './power/index.js';
export {
  PROFILE_NAMES,
  cardJson,
  cardNamed,
  findCard,
  isCardFile,
  profileNamed,
  type DeviceProfile,
  type ResolvedCard,
  type SourcedFigure,
} from './profiles/index.js';
export type { SmCounts } from './smActivity.js';
export { DEVICE_RESOURCES, SM_RESOURCES, type BlockWork } from './timing/index.js';
export type { DeviceUsage } from './usage/index.js';
