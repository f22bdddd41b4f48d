export { computeTile, documentedMetadata } from '../../tensor/index.js';
export type { Model, Operand, TileForm, TileModel } from '../../tensor/index.js';
export { moveForms, tileForms } from './forms/index.js';
export type { MoveForm } from './forms/index.js';
export { CompiledTile, drawnTile } from './tiles/index.js';
