export { ContextValues } from './contextValues.js';
export { OperandValues } from './operandValues.js';
export {
  emitWarpOperation,
  isTogetherOperation,
  namesWholeWarp,
  pushNamesAll,
  warpMembers,
  warpResultShapes,
} from './warpOperations.js';
export { WARP_GROUPS } from './warpValues.js';
