export { carryEmitter, carryForm } from './carryEmitter.js';
export { comparisonEmitters } from './comparisonEmitter.js';
export { convert, convertsInline } from './conversionEmitter.js';
export { directedMode, floatEmitters, fusedDoubles } from './floatEmitter.js';
export {
  combineHalves,
  halfEmitter,
  halfForm,
  halfTypes,
  roundedHalf,
  widen,
  writeHalves,
  type HalfSurroundings,
} from './halfEmitter.js';
export { integerEmitters, type InstructionEmitter } from './integerEmitter.js';
export { OperandEmitter, type SurroundingValues } from './operandEmitter.js';
