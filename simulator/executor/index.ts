export {
  DeviceAddressSpace,
  CARD_PAGE_BYTES,
  CLUSTER_RANK_STEP,
  DEVICE_HEAP_BYTES,
  EXECUTOR_AREA_BYTES,
  GUARDS,
  MemoryError,
  NODE_MEMORY_BYTES,
  NodeMemory,
  type Guard,
  type NodeMemoryOptions,
  SEGMENT_ALIGN,
  type NodeMemorySnapshot,
} from './memory/index.js';
export {
  blockIndexOf,
  blockNumberOf,
  blocksTogether,
  clusterBlocks,
  clusterRank,
  isOfClusters,
  meetsInCluster,
} from './clusters.js';
export { emptyCounters } from './emptyCounters.js';
export {
  mayWait,
  ReferenceInterpreter,
  type AccessKind,
  type InterpreterObserver,
  type LaneAccess,
  type LaneFault,
  type Location,
  type ResolvedSpace,
  type Warp,
  shuffledFrom,
} from './interpreter/index.js';
export { classOf, CompileError, findSpinLoops, spaceOf, syncScope, type CodeForm } from './compiler/index.js';
export { layoutLocal, layoutShared, loadModule, sharedBytesOf } from './module/index.js';
export {
  atomicSectors,
  bitCount4,
  RequestShaper,
  SECTOR_BYTES,
  sharedAtomicCycles,
  type RequestShape,
} from './requests/index.js';
export {
  encodeObject,
  levelShapes,
  OBJECT_BYTES,
  objectAt,
  resourceBytes,
  TextureError,
  textureObject,
  type Sampler,
  type TexelType,
  type TextureObject,
  type TextureResource,
} from './textures/index.js';
export { PRINTF_FIFO_BYTES, usesHeap } from './deviceRuntime/index.js';
export {
  storesOf,
  flipLastStored,
  takeBackStores,
  takeOver,
  traceRange,
  WasmExecutor,
  type CodeMaker,
  type PreparedKernel,
  type WantedCode,
} from './runtime/index.js';
export type {
  Dim3,
  LaunchShape,
  BlockRange,
  ExecutorVariant,
  Segment,
  AddressSpace,
  LoadedModule,
  ExecutorLaunch,
  ExecutionCounters,
  InstructionCounts,
  InstructionClass,
  FaultCode,
  KernelFault,
  RunResult,
  StoreLog,
  Executor,
  TraceSink,
} from './types.js';
