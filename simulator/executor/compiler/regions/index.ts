export { emitControlFlow, type NodeEmitter } from './controlFlowEmitter.js';
export { emitInstruction, emitUnguarded, isSilent, needsImport } from './instructionEmitter.js';
export { LaneSummary } from './laneSummary.js';
export {
  liveAt,
  planResume,
  resumesFromStart,
  startPoint,
  type PartedLanes,
  type Resume,
  type ResumePoint,
} from './partedLanes.js';
export { RegionCompiler } from './regionCompiler.js';
export { FaultExit } from './faultExit.js';
export { RegionExit, type WrittenRegion } from './regionExit.js';
export { surroundingValues } from './surroundingValues.js';
export { RegionRegisters, resultType } from './regionRegisters.js';
export { pushSpecialRegister, startTid, type ThreadLocals } from './specialRegisters.js';
