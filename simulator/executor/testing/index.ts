/**
 * A second door, for the laboratory, experiments and tests alone: single emitters and operations, which twins and vectors run
 * apart, and what whoever watches or ablates the executor needs.
 */
export {
  bitsOfValue,
  exponentialWords,
  scalarOperation,
  specialFunctionWords,
  valueOfBits,
  type ScalarOperation,
} from '../arithmetic/index.js';
export { groupAccesses, type AccessGroup } from '../compiler/analysis/accessGroups.js';
export type { CacheLocals } from '../compiler/accesses/accessWindows.js';
export type { DynamicBytes } from '../compiler/instructions/accessForms.js';
export type { MemorySurroundings } from '../compiler/accesses/addressEmitter.js';
export { AREA, CACHE, DYNAMIC_BYTES, FAULTS, RECORD } from '../compiler/area/executorArea.js';
export { hasFusedMultiplyAdd } from '../compiler/library/fusedMultiplyAdd.js';
export { ImportedOperations } from '../compiler/hostCalls/importedOperations.js';
export { emitInstruction } from '../compiler/regions/instructionEmitter.js';
export { Library } from '../compiler/library/library.js';
export { MemoryEmitter } from '../compiler/accesses/memoryEmitter.js';
export { OperandEmitter } from '../compiler/scalar/operandEmitter.js';
export { findExactRegisters, wasmTypeOf } from '../compiler/instructions/registerTypes.js';
export { tileFunction, type TileFunction } from '../compiler/tiles/index.js';
export { vectorEmitter } from '../compiler/vector/arithmetic/index.js';
export { UNIFORM, VARYING, type LaneShape } from '../compiler/vector/shapes/laneShapes.js';
export { VectorMemoryEmitter } from '../compiler/vector/memory/vectorMemoryEmitter.js';
export { VectorOperands } from '../compiler/vector/operands/vectorOperands.js';
export { compileKernel, OPTIMISATIONS, type CodeForm, type Optimisation } from '../compiler/index.js';
export type { WasmExecutorOptions } from '../runtime/index.js';
export type { SuspendedRun, JournalEntry, AccessProfile, AccessJournal } from '../types.js';
