export type * from './ir.js';
export { PtxParseError, type PtxErrorCode } from './errors.js';
export { parseModule } from './moduleParser.js';
export { isFloatType, isScalarType, isSignedType, typeBits, typeBytes } from './scalarTypes.js';
export { operandTypes, type OperandType, type OperandTypes } from './support.js';
