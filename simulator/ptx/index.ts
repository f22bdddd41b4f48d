export type * from './ir.js';
export { PtxParseError, type PtxErrorCode } from './errors.js';
export * from './isa/index.js';
export { productName, registersOf } from './matrixRules.js';
export { laterFamilies } from './laterArchitectures.js';
export { parseModule } from './moduleParser.js';
export {
  printBlocks,
  printFunction,
  printInstruction,
  printModule,
  type InstructionLines,
  type PrintedBlock,
} from './printer/index.js';
export { lowerCalls, lowerModule, takeLowered, type CallLoweringOptions } from './lowering/index.js';
export { TENSOR_MAP, TENSOR_TYPES, type TensorType } from './tensorMapLayout.js';
export { reservedSharedMemory } from './specialRegisters.js';
export { sourceLines, type SourceLine } from './sourceLines.js';
export { isFloatType, isScalarType, isSignedType, typeBits, typeBytes } from './scalarTypes.js';
export type { OperandType } from './operandCheck.js';
export { operandTypes, type OperandTypes } from './support.js';
export { BitSet } from './analysis/bitSet.js';
export { dominates, dominators, postDominators, type DominatorTree } from './analysis/dominators.js';
export { analyzeLiveness, type Liveness } from './analysis/liveness.js';
export { analyzeLoops, type LoopAnalysis, type NaturalLoop } from './analysis/loops.js';
export { readRegisters, writtenRegisters } from './analysis/registerUse.js';
export { registerPressure, type RegisterPressure } from './analysis/registerPressure.js';
export {
  codeShape,
  estimateRegistersPerThread,
  type CodeShape,
  type RegisterTarget,
} from './registers/index.js';
