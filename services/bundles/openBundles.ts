import type { RedisConnection } from '../redis/index.js';
import type { BundleStore } from './bundle.js';
import { FolderBundles } from './folderBundles.js';

/**
 * Where a cluster keeps its bundles. Redis' is loaded when it is asked for: a server that is alone starts without a client of it.
 * @param prefix of every key: `keyPrefix`
 * @param folder that all frontends and nodes see; in Redis unless given
 * @throws BundleError (as a rejection) `unusable`
 */
export async function openBundles(
  redis: RedisConnection,
  prefix: string,
  folder: string | undefined,
): Promise<BundleStore> {
  if (folder !== undefined) return new FolderBundles(folder);
  const { RedisBundles } = await import('./redisBundles.js');
  return new RedisBundles(redis, prefix);
}
