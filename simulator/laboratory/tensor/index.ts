export { moveForms, tileForms } from './forms/index.js';
export type { MoveForm, Operand, TileForm } from './forms/index.js';
export { computeTile, documentedMetadata } from './model/index.js';
export type { Model, TileModel } from './model/index.js';
