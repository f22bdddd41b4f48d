export { ContextValues } from './contextValues.js';
export { emitWarpOperation, isTogetherOperation, namesWholeWarp, pushNamesAll } from './warpOperations.js';
export { WARP_GROUPS, type WarpValues } from './warpValues.js';
