export { CompileError, type CompileErrorCode } from './compileError.js';
export {
  AREA,
  CACHE,
  CLASS_COUNTERS,
  DYNAMIC_BYTES,
  COUNTER_BYTES,
  ENTRY_STATE,
  FAULTS,
  MAX_THREADS,
  RECORD,
  WARP_SIZE,
} from './executorArea.js';
export type { SyncPoint } from './flowGraph.js';
export type { InstructionWeights } from './instructionCounts.js';
export { compileKernel, type CompiledKernel } from './kernelCompiler.js';
export { REGION_RESULT } from './regionCompiler.js';
