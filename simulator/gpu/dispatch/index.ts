export type { DrawnPower } from './aloneRates.js';
export { BlockEngine, emptyEngine, type EngineState } from './blockEngine.js';
export type { PlacedBlocks } from './placing.js';
export { blockAt, type BlockEnergy, type ResidentGroup } from './residentGroup.js';
export { giveShare, withinShare, type ContextShares } from './contextShares.js';
export { checkSlice, emptyTurns, type ParkedBlocks, type TurnState } from './contextTurns.js';
export { Dispatcher } from './dispatcher.js';
export {
  emptyPreemption,
  type PreemptionEvent,
  type PreemptionState,
  type PreemptionTotals,
} from './preemption.js';
export { refuseHeld } from './heldLaunch.js';
export { LATEST_PART, type FaultPoint } from './faultPoint.js';
export { FaultWatch } from './faultWatch.js';
export type { MoveEnd } from './preemptor.js';
export type { BlockSource } from './blockSource.js';
export { BlockSources } from './blockSources.js';
export { CostedExecution } from './costedExecution.js';
export { l2Key } from './trafficPlans.js';
export { uniformWork, type KnownWork } from './knownWork.js';
export { LaunchExecution, type ExecutionOptions, type LaunchSource } from './launchExecution.js';
export {
  addCounters,
  launchRecord,
  type BlockReport,
  type LaunchPhase,
  type LaunchRecord,
  type LaunchRequest,
} from './launchRecord.js';
export { allowedSms, emptySmUse, occupy, placeBlocks, room, type SmUse } from './smPool.js';
export { ProfileCache, type KeptProfiles } from './profileCache.js';
