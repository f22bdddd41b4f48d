export { BlockExecution, type BlockResources, type FaultPlace } from './blockExecution.js';
export { LaneFault } from './faults.js';
export type { AccessKind } from './laneInstructions.js';
export type { Location, ResolvedSpace } from './memorySpaces.js';
export type { InterpreterObserver, LaneAccess } from './observer.js';
export { ReferenceInterpreter, type InterpreterOptions } from './referenceInterpreter.js';
export { Warp } from './warp.js';
export { PostDominatorPolicy, type LaneSet, type WarpPolicy } from './warpPolicy.js';
export { mayWait } from './waitingLoops.js';
