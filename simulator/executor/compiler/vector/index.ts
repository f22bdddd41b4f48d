export { oneLaneEmitter, vectorEmitter } from './arithmetic/index.js';
export { VectorMemoryEmitter, type ChunkMemory } from './memory/index.js';
export {
  VectorOperands,
  extractLane,
  heldAs,
  readsLaneSpecials,
  type ChunkSurroundings,
} from './operands/index.js';
export {
  analyseShapes,
  sameShape,
  shapeOfOperand,
  strideOf,
  type LaneShape,
  type MaskedInstructions,
  type RegisterShapes,
} from './shapes/index.js';
export {
  ContextValues,
  emitWarpOperation,
  isTogetherOperation,
  WARP_GROUPS,
  type WarpValues,
  namesWholeWarp,
  pushNamesAll,
} from './warp/index.js';
