import { Cluster } from 'ioredis';
import {
  addressText,
  connectRedis,
  isAnswer,
  isLoss,
  keyPrefix,
  openRedis,
  redisRefusal,
  type RedisAddress,
  type RedisConnection,
} from '../../redis/index.js';
import type { Versioned } from '../store.js';
import { StoreError } from '../storeError.js';
import type { Kept } from './kept.js';
import { redisFault } from './redisFaults.js';
import { repairRedis } from './repairRedis.js';
import { storeKeys } from './storeKeys.js';

const SLICE = 1000;

/**
 * Puts all entries under a prefix of a Redis where nothing is, in one: it has all of them or none.
 * @param prefix of all keys, without braces
 * @param before done once it is known that nothing is there, and before the entries are
 * @throws StoreError `notEmpty`, `unusable`; RedisError (as rejections)
 */
export async function restoreRedis(
  address: RedisAddress,
  prefix: string,
  entries: ReadonlyMap<string, Versioned>,
  before: (redis: RedisConnection, prefix: string) => Promise<void>,
): Promise<void> {
  const braced = keyPrefix(prefix);
  const commands = openRedis(address, {
    name: 'windjammer-restore',
    kind: 'command',
    onError: () => undefined,
  });
  try {
    await connectRedis(commands, address);
    await requireEmpty(commands, braced, address);
    await before(commands, braced);
    const kept = new Map<string, Kept>(
      [...entries].map(([key, entry]) => [key, { entry, text: JSON.stringify(entry.value) }]),
    );
    await repairRedis({ commands, address }, storeKeys(braced), { epoch: '', seq: 0, entries: kept });
  } catch (error) {
    if (isAnswer(error))
      throw new StoreError('unusable', redisFault(address, error).message, { cause: error });
    throw isLoss(error) ? redisRefusal(error, address) : error;
  } finally {
    commands.disconnect();
  }
}

async function requireEmpty(redis: RedisConnection, prefix: string, address: RedisAddress): Promise<void> {
  for (const node of redis instanceof Cluster ? redis.nodes('master') : [redis]) {
    let cursor = '0';
    do {
      const [next, [found]] = await node.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', SLICE);
      if (found !== undefined) {
        throw new StoreError(
          'notEmpty',
          `${addressText(address)} has keys under the prefix (${found}): restore under another --redis-prefix, or remove them`,
        );
      }
      cursor = next;
    } while (cursor !== '0');
  }
}
