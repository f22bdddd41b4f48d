export type * from './types.js';
export { PredictionEngine, type PolicyFileStatus } from './predictionEngine.js';
export { keyMark, type FeedbackDesk, type Judgement, type ResolvedFeedback } from './feedbackDesk.js';
export { refused } from './feedbackJoin.js';
export type { PredictionEngineOptions } from './engineOptions.js';
export type { ReplicaHandle } from './replicaLink.js';
export type { TrialStatus } from './versionTrial.js';
export { SilentObserver, type PredictionObserver } from './observer.js';
export type {
  BatchRecord,
  BatchTrace,
  BatchingObserver,
  ReplicaStatus,
  TracedItem,
} from '../batching/index.js';
export type { CacheStats, Lookup, PredictionFailure, WaiterTrace } from '../cache/index.js';
