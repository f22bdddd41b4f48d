import type { RedisConnection } from '../redis/index.js';
import type { BundleStore } from './bundle.js';
import { FolderBundles } from './folderBundles.js';
import { RedisBundles } from './redisBundles.js';

/**
 * Where a cluster keeps its bundles.
 * @param prefix of every key: `keyPrefix`
 * @param folder that all frontends and nodes see; in Redis unless given
 * @throws BundleError `unusable`
 */
export function openBundles(redis: RedisConnection, prefix: string, folder: string | undefined): BundleStore {
  return folder === undefined ? new RedisBundles(redis, prefix) : new FolderBundles(folder);
}
