export { ExecutorError, type ExecutorErrorCode } from './executorError.js';
export type { CodeMaker, WantedCode } from './codeMaker.js';
export { traceRange } from './tracer.js';
export { takeOver } from './kernelCache.js';
export type { PreparedKernel } from './preparedKernels.js';
export { WasmExecutor, type WasmExecutorOptions } from './wasmExecutor.js';
export { flipLastStored, storesOf, takeBackStores } from './storeLog.js';
