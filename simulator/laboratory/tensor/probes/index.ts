export { fillTile } from './generator.js';
export { moveAreas, tileAreas } from './inputArea.js';
export type { InputArea } from './inputArea.js';
export { header, moveKernel, moveWords, tileKernel, tilesPerBlock, tileWords } from './kernelText.js';
export { chunkTiles, modeNames } from './modes.js';
export { craftedTiles, dotProbes, indexTileCount, probeTiles } from './crafted.js';
export type { DotProbe } from './dotProbe.js';
