export { emitControlFlow, type NodeEmitter } from './controlFlowEmitter.js';
export { emitInstruction, emitUnguarded, needsImport, silentOpcodes } from './instructionEmitter.js';
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
export { emitRegionLeave } from './regionLeave.js';
export { RegionRegisters, resultType } from './regionRegisters.js';
export { pushSpecialRegister, startTid, type ThreadLocals } from './specialRegisters.js';
