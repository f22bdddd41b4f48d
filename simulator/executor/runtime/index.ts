export { ExecutorError, type ExecutorErrorCode } from './executorError.js';
export { WasmExecutor, type WasmExecutorOptions } from './wasmExecutor.js';
