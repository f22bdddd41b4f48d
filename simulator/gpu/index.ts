export { Agenda, type AgendaSnapshot, type AgendaTarget } from './agenda.js';
export {
  type BlockReport,
  type ExecutionOptions,
  blockAt,
  LATEST_PART,
  uniformWork,
  type FaultPoint,
  type KeptProfiles,
  type KnownWork,
  type LaunchRecord,
  type LaunchRequest,
  type LaunchSource,
  type PreemptionEvent,
  type PreemptionTotals,
  type ResidentGroup,
} from './dispatch/index.js';
export {
  CostError,
  CostLibrary,
  CostRecorder,
  checkCosts,
  parseCosts,
  plainCosts,
  scalarsOf,
  type PlainKernel,
  type CostDocument,
  type CostErrorCode,
  type CostKey,
  type FixedCost,
  type LaunchCost,
  type ProfiledCost,
} from './costs/index.js';
export { copyWork, type CopyWork } from './copyWork.js';
export type { DeviceObserver } from './deviceObserver.js';
export type { DeviceExecution, DeviceListener } from './deviceSurroundings.js';
export { GpuDevice } from './gpuDevice.js';
export { emptyDevice, type ContextSharing, type DeviceState } from './deviceState.js';
export { GpuError, type GpuErrorCode } from './gpuError.js';
export {
  blockFootprint,
  checkedNeeds,
  launchNeeds,
  estimateRegisters,
  l1BytesBeside,
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
  type TimingRule,
} from './profiles/index.js';
export { SmActivity, type SmCounts } from './smActivity.js';
export {
  DEVICE_RESOURCES,
  MECHANISMS,
  SM_RESOURCES,
  type BlockWork,
  type Mechanism,
} from './timing/index.js';
export type { ContextUsage, DeviceUsage } from './usage/index.js';
