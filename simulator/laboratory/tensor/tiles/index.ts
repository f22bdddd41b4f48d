export { CompiledTile, drawnTile } from './compiledTile.js';
