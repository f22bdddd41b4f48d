export { ChunkCompiler } from './chunkCompiler.js';
export { mayGoTogether, planChunks, type ChunkPlan } from './chunkPlan.js';
export { mostGroups } from './launchGroups.js';
