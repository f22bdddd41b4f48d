export {
  DeviceAddressSpace,
  CARD_PAGE_BYTES,
  GLOBAL_BASE,
  GLOBAL_WINDOW_BYTES,
  GUARDS,
  LOCAL_WINDOW_BASE,
  MAX_GPU_WINDOWS,
  MemoryError,
  NODE_MEMORY_BYTES,
  NodeMemory,
  SHARED_WINDOW_BASE,
  type MemoryErrorCode,
  type Guard,
  type NodeMemoryOptions,
  type NodeMemorySnapshot,
} from './memory/index.js';
export { emptyCounters } from './emptyCounters.js';
export {
  mayWait,
  ReferenceInterpreter,
  type AccessKind,
  type InterpreterObserver,
  type InterpreterOptions,
  type LaneAccess,
  type LaneFault,
  type Location,
  type ResolvedSpace,
  type Warp,
  shuffledFrom,
} from './interpreter/index.js';
export {
  classOf,
  CompileError,
  findSpinLoops,
  OPTIMISATIONS,
  spaceOf,
  syncScope,
  type AccessSpace,
  type CodeForm,
  type CompileErrorCode,
  type Optimisation,
} from './compiler/index.js';
export {
  layoutLocal,
  layoutShared,
  LoadError,
  loadModule,
  sharedBytesOf,
  unloadModule,
  type LoadErrorCode,
  type LocalLayout,
  type SharedLayout,
} from './module/index.js';
export {
  atomicSectors,
  bitCount4,
  RequestShaper,
  SECTOR_BYTES,
  sharedAtomicCycles,
  type RequestShape,
} from './requests/index.js';
export { usesHeap } from './deviceRuntime/index.js';
export {
  ExecutorError,
  storesOf,
  flipLastStored,
  takeBackStores,
  takeOver,
  traceRange,
  WasmExecutor,
  type CodeMaker,
  type ExecutorErrorCode,
  type PreparedKernel,
  type WantedCode,
  type WasmExecutorOptions,
} from './runtime/index.js';
export type * from './types.js';
