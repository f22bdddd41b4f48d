export * from './approximate.js';
export { MBARRIER } from './mbarrierState.js';
export { atomicName, atomicUpdate, type AtomicUpdate } from './atomicUpdates.js';
export { specialFunctionRows, specialFunctionWords } from './specialFunctions.js';
export { compare, type Comparison } from './comparison.js';
export * from './conversion.js';
export * from './division.js';
export * from './doubleBits.js';
export { exponential2, exponentialBias, exponentialWords } from './exponential.js';
export * from './float.js';
export {
  bfloat16,
  binary16,
  binary32,
  binary64,
  exactOf,
  roundToBits,
  roundToNumber,
} from './floatFormat.js';
export type { Exact, FloatFormat, Rounding } from './floatFormat.js';
export * from './half.js';
export * from './integer.js';
export { scalarOperation } from './operations.js';
export type { ScalarOperation, Value, ValueKind } from './operationTypes.js';
export { bitsOfValue, valueOfBits } from './valueBits.js';
