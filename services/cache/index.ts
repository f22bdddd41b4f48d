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
export { sameBytes } from './inputHash.js';
export { HASH_KEY_BYTES } from './sipHash.js';
