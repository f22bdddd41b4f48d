import type { RedisStore, RedisStoreOptions, restoreRedis as restore } from './redis/index.js';

/**
 * Connects to a Redis, and opens the store in it: `openRedisStore`, which is loaded when it is asked for, since a server that is
 * alone starts without a client of Redis.
 * @throws RedisError `unreachable`, `refused`, `invalidAddress`; StoreError `unusable`, `schemaTooNew` (as rejections)
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<RedisStore> {
  const { openRedisStore: open } = await import('./redis/index.js');
  return open(options);
}

/** `restoreRedis`, loaded when it is asked for, too. */
export async function restoreRedis(...to: Parameters<typeof restore>): Promise<void> {
  const { restoreRedis: act } = await import('./redis/index.js');
  return act(...to);
}
