export {
  CLUSTER_RANK_SHIFT,
  CLUSTER_RANK_STEP,
  FUNCTION_WINDOW_BASE,
  CARD_PAGE_BYTES,
  GLOBAL_BASE,
  GLOBAL_WINDOW_BYTES,
  GUARDS,
  LOCAL_WINDOW_BASE,
  LOCAL_WINDOW_HIGH,
  MAX_GPU_WINDOWS,
  PARAM_WINDOW_BASE,
  PARAM_WINDOW_HIGH,
  SEGMENT_ALIGN,
  SHARED_WINDOW_BASE,
  SHARED_WINDOW_HIGH,
  type Guard,
} from './addressLayout.js';
export { DEVICE_HEAP_BYTES } from './deviceHeap.js';
export { DeviceAddressSpace } from './deviceAddressSpace.js';
export { MemoryError, type MemoryErrorCode } from './memoryError.js';
export type { NodeMemorySnapshot, SegmentSnapshot, SpaceSnapshot } from './memorySnapshot.js';
export { EXECUTOR_AREA_BYTES, NODE_MEMORY_BYTES, NodeMemory, type NodeMemoryOptions } from './nodeMemory.js';
export { SEGMENT_ENTRY, SEGMENT_FLAGS } from './segmentTable.js';
