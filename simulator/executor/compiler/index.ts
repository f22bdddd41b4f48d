export { DRIVER_RESULT } from './blockDriver.js';
export { CompileError, type CompileErrorCode } from './compileError.js';
export {
  AREA,
  CACHE,
  CLASS_COUNTERS,
  DRIVER,
  DYNAMIC_BYTES,
  COUNTER_BYTES,
  ENTRY_STATE,
  faultNumber,
  FAULTS,
  JOURNAL_ENTRY,
  MAX_THREADS,
  PASSES,
  RECORD,
  STOPPED,
  WARP_SIZE,
} from './executorArea.js';
export { syncScope, type SyncPoint } from './flowGraph.js';
export { importsByName } from './importsByName.js';
export { FLUSH_JOURNAL } from './importedOperations.js';
export { JOURNAL_WHAT } from './journalEmitter.js';
export { blockIndependence, type BlockIndependence } from './blockIndependence.js';
export type { CodeForm } from './kernelPlan.js';
export { OWN } from './pointerRoots.js';
export { NOTHING_LEFT_OUT, optimisationKey, OPTIMISATIONS, type Optimisation } from './optimisations.js';
export { EXCHANGE, type ContextSlot } from './threadContext.js';
export { findSpinLoops } from './spinLoops.js';
export { classOf, spaceOf, type AccessSpace } from './instructionClass.js';
export type { InstructionWeights } from './instructionCounts.js';
export { compileKernel, type CompiledKernel } from './kernelCompiler.js';
export { REGION_RESULT } from './regionResult.js';
export { mostGroups } from './vector/index.js';
