import { Cluster } from 'ioredis';
import { addressText, isOwnKey, type RedisAddress, type RedisConnection } from '../../redis/index.js';
import { StoreError } from '../storeError.js';
import type { StoreKeys } from './storeKeys.js';

const SLICE = 1000;

/**
 * Keys under the prefix that another program has made.
 * @throws StoreError `unusable` naming one
 */
export async function refuseForeignKeys(
  redis: RedisConnection,
  keys: StoreKeys,
  { address, prefix }: { readonly address: RedisAddress; readonly prefix: string },
): Promise<void> {
  const refuse = (words: string) => {
    throw new StoreError(
      'unusable',
      `the store at ${addressText(address)}: ${words}; choose another --redis-prefix`,
    );
  };
  for (const key of [keys.meta, keys.state, keys.boots]) {
    const type = await redis.type(key);
    if (type !== 'hash' && type !== 'none')
      refuse(`the key ${key} is a ${type}, which another program has made`);
  }
  // All keys are looked through for a new installation alone.
  if ((await redis.exists(keys.meta)) === 1) return;
  for (const node of redis instanceof Cluster ? redis.nodes('master') : [redis]) {
    let cursor = '0';
    do {
      const [next, found] = await node.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', SLICE);
      const foreign = found.find((key) => !isOwnKey(prefix, key));
      if (foreign !== undefined)
        refuse(`the key ${foreign} is under the prefix, and another program has made it`);
      cursor = next;
    } while (cursor !== '0');
  }
}
