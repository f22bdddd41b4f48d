export { tileFunction, type TileFunction } from './tileFunction.js';
