export type * from './store.js';
export { EmbeddedStore } from './embeddedStore.js';
export { SCHEMA_VERSION } from './thread/index.js';
export { openRedisStore, type RedisStore, type RedisStoreOptions } from './redis/index.js';
export { MemoryStore } from './memoryStore.js';
export { FAULT_CAUSES } from './store.js';
export { notKept } from './notKept.js';
export { StoreError } from './storeError.js';
export { storeKey, storeKeyParts } from './storeKey.js';
