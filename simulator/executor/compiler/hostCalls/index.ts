export { FETCH_TEXTURE, FLUSH_JOURNAL, ImportedOperations, type HostFunction } from './importedOperations.js';
export { importsByName } from './importsByName.js';
export { RuntimeImports, emitRuntimeCall, type RuntimeCallSurroundings } from './runtimeCallEmitter.js';
