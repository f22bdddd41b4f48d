export { ContextValues } from './contextValues.js';
export { emitWarpOperation, isTogetherOperation, namesWholeWarp, pushNamesAll } from './warpOperations.js';
