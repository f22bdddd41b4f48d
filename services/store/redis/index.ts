export { openRedisStore, type RedisStoreOptions } from './openRedisStore.js';
export type { RedisStore } from './redisStore.js';
export { restoreRedis } from './restoreRedis.js';
