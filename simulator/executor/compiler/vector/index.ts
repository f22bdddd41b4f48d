export { ChunkCompiler, type PartedFunctions } from './chunkCompiler.js';
export { planChunks, type ChunkPlan } from './chunkPlan.js';
export { mostGroups } from './launchGroups.js';
