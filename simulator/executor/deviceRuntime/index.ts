export { usesHeap } from './runtimeUse.js';
export { DeviceRuntime, RuntimeFault, type CallPlace, type ThreadMemory } from './deviceRuntime.js';
export { PrintBuffer, PRINTF_FIFO_BYTES } from './printBuffer.js';
