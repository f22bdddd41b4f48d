export {
  PredictionCache,
  DEFAULT_CACHE_BYTES,
  ENTRY_OVERHEAD_BYTES,
  type CacheOptions,
  type CacheStats,
  type Lookup,
  type ModelLookups,
} from './predictionCache.js';
export {
  CacheEntry,
  type CacheWaiter,
  type Prediction,
  type PredictionFailure,
  type WaiterTrace,
} from './cacheEntry.js';
export { hashInput, sameBytes } from './inputHash.js';
