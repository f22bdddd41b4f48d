export { FunctionBuilder, MAX_LOCALS, type Label } from './functionBuilder.js';
export { ModuleBuilder } from './moduleBuilder.js';
export { op, type AtomicName, type OpName, type ScalarWasmType, type WasmType } from './opcodes.js';
export type { SimdLaneName, SimdMemoryLaneName, SimdMemoryName, SimdName } from './simdOpcodes.js';
