export { ExecutorError, type ExecutorErrorCode } from './executorError.js';
export { traceRange } from './tracer.js';
export { WasmExecutor, type WasmExecutorOptions } from './wasmExecutor.js';
