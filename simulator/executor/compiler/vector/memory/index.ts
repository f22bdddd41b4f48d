export type { ChunkMemory } from './chunkAccess.js';
export { VectorMemoryEmitter } from './vectorMemoryEmitter.js';
