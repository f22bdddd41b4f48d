export { hasFusedMultiplyAdd } from './fusedMultiplyAdd.js';
export { CANONICAL_NAN_16, type HalfType } from './halfFunctions.js';
export { NO_LANE, NO_STRIDE, REACH, REACH_TO } from './laneReach.js';
export {
  CANONICAL_NAN_32,
  CANONICAL_NAN_64_HIGH,
  Library,
  NO_OFFSET_HIGH,
  type LibraryFunction,
} from './library.js';
