export { chunkOf, columnInChunk, documentedMetadata } from './metadata.js';
export type { MetadataMap, MetadataPlace } from './metadata.js';
export { mostFractionBits } from './fusedDot.js';
export { decodeNumber, encodeNarrow } from './numbers.js';
export type { ChainModel, FusedModel, IntegerModel, Model } from './parameters.js';
export { doubleChain, exactIntegers, forHalfResults, published } from './published.js';
export { computeTile, wordsOf } from './tile.js';
export type { TileModel } from './tile.js';
