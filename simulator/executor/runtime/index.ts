export { ExecutorError, type ExecutorErrorCode } from './executorError.js';
export { WasmExecutor } from './wasmExecutor.js';
