import type { Complaint } from '../../errors/index.js';
import {
  addressText,
  connectRedis,
  isLoss,
  isAnswer,
  keyPrefix,
  openRedis,
  redisRefusal,
  type RedisAddress,
  type RedisConnection,
} from '../../redis/index.js';
import { StoreError } from '../storeError.js';
import { refuseForeignKeys } from './foreignKeys.js';
import { redisFault } from './redisFaults.js';
import { RedisStore } from './redisStore.js';
import { storeKeys } from './storeKeys.js';

/** The first that has what the scripts and BullMQ need. */
const OLDEST = [6, 2] as const;

export interface RedisStoreOptions {
  readonly address: RedisAddress;
  /** Of all keys, without braces. */
  readonly prefix: string;
  readonly complain: Complaint;
}

/**
 * Connects to a Redis, and opens the store in it: a new one where nothing is there.
 * @throws RedisError `unreachable`, `refused`, `invalidAddress`; StoreError `unusable`, `schemaTooNew`
 */
export async function openRedisStore({ address, prefix, complain }: RedisStoreOptions): Promise<RedisStore> {
  const braced = keyPrefix(prefix);
  // Each failure shows as a fault of the store.
  const onError = () => undefined;
  const commands = openRedis(address, { name: 'windjammer-store', kind: 'command', onError });
  const follower = openRedis(address, { name: 'windjammer-store-follower', kind: 'waiting', onError });
  try {
    await connectRedis(commands, address);
    await check(commands, address, complain);
    await refuseForeignKeys(commands, storeKeys(braced), { address, prefix: braced });
    await connectRedis(follower, address);
    return await RedisStore.open({ address, prefix: braced, commands, follower });
  } catch (error) {
    commands.disconnect();
    follower.disconnect();
    if (isAnswer(error))
      throw new StoreError('unusable', redisFault(address, error).message, { cause: error });
    throw isLoss(error) ? redisRefusal(error, address) : error;
  }
}

/** @throws StoreError `unusable` where it is too old */
async function check(redis: RedisConnection, address: RedisAddress, complain: Complaint): Promise<void> {
  const info = await redis.info();
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const where = addressText(address);
  const version = field('redis_version') ?? '';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    throw new StoreError(
      'unusable',
      `the store at ${where} is Redis ${version}; Windjammer needs ${OLDEST.join('.')} or later, or Valkey`,
    );
  }
  if (field('aof_enabled') === '0') {
    complain(
      'this Redis has no append-only file: what it has acknowledged is gone when it ends; start it with appendonly yes and appendfsync always',
      { store: where },
    );
  }
  const policy = field('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction' && field('maxmemory') !== '0') {
    complain(
      'this Redis throws keys away when its memory is full, and feedback may then be applied twice; set maxmemory-policy noeviction',
      { store: where, policy },
    );
  }
}
