export { FunctionBuilder, MAX_LOCALS, type Label } from './functionBuilder.js';
export { ModuleBuilder } from './moduleBuilder.js';
export { op, type OpName, type WasmType } from './opcodes.js';
