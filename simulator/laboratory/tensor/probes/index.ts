export { fillTile } from './generator.js';
export { moveAreas, tileAreas } from './inputArea.js';
export type { InputArea } from './inputArea.js';
export { blockShape, header, moveKernel, moveWords, tileKernel, tileWords } from './kernelText.js';
export { chunkTiles, modeNames } from './modes.js';
export { craftedTiles, dotProbes, indexTileCount, probeTiles } from './crafted.js';
export type { DotProbe } from './dotProbe.js';
