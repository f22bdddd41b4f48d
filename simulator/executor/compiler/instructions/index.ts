export { accessBytes, countsDynamically, makesGenericParams, type DynamicBytes } from './accessForms.js';
export { floatComparison, integerComparison, joinOf, needsBits } from './comparisonForms.js';
export { CompileError, unsupported, type CompileErrorCode } from './compileError.js';
export { classOf, spaceOf, type AccessSpace } from './instructionClass.js';
export { immediateOf, lastType, scalarAtomic } from './instructionForms.js';
export { WINDOW_HIGHS, loadName, registerView, storeName } from './memoryOperations.js';
export { findExactRegisters, isNanBits, wasmTypeOf } from './registerTypes.js';
export { syncScope } from './syncScope.js';
