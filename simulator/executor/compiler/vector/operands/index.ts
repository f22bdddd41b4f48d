export { extractLane, readsLaneSpecials } from './laneOperands.js';
export { VectorOperands, heldAs, type ChunkSurroundings, type VectorEmitter } from './vectorOperands.js';
