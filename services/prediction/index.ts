export type * from './types.js';
export { PredictionEngine, type PredictionEngineOptions } from './predictionEngine.js';
export type { ReplicaHandle } from './replicaLink.js';
export { SilentObserver, type PredictionObserver } from './observer.js';
export type { QueryTrace, TraceScope } from './trace.js';
export type { BatchRecord, BatchTrace, BatchingObserver, ReplicaStatus } from '../batching/index.js';
export type { CacheStats, Lookup, PredictionFailure, WaiterTrace } from '../cache/index.js';
