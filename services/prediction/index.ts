export type * from './types.js';
export { PredictionEngine, type PredictionEngineOptions } from './predictionEngine.js';
export type { ReplicaHandle } from './replicaLink.js';
export { SilentObserver, type PredictionObserver } from './observer.js';
export type { BatchRecord, BatchingObserver, ReplicaStatus } from '../batching/index.js';
export type { CacheStats } from '../cache/index.js';
