export { fragmentMap, moveByMap, moveMatrices } from './moveModel.js';
export type { MoveMap } from './moveModel.js';
