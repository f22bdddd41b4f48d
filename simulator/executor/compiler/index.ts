export { DRIVER_RESULT } from './blockDriver.js';
export {
  CompileError,
  type CompileErrorCode,
  syncScope,
  classOf,
  spaceOf,
  type AccessSpace,
} from './instructions/index.js';
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
  FETCH,
  JOURNAL_ENTRY,
  MAX_THREADS,
  PASSES,
  RECORD,
  STOPPED,
  WARP_SIZE,
  REGION_RESULT,
} from './area/index.js';
export {
  type SyncPoint,
  blockIndependence,
  type BlockIndependence,
  OWN,
  EXCHANGE,
  type ContextSlot,
  findSpinLoops,
} from './analysis/index.js';
export { importsByName, FLUSH_JOURNAL } from './hostCalls/index.js';
export { JOURNAL_WHAT } from './accesses/index.js';
export {
  type CodeForm,
  NOTHING_LEFT_OUT,
  optimisationKey,
  OPTIMISATIONS,
  type Optimisation,
} from './plan/index.js';
export type { InstructionWeights } from './counters/index.js';
export { compileKernel, type CompiledKernel } from './kernelCompiler.js';
export { mostGroups } from './chunks/index.js';
